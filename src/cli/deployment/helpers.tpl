{{- define "operetta.args" -}}
@args@
{{- with .Values.auth.audience }}
- {{ printf "--auth-audience=%s" . | quote }}
{{- end }}
{{- if eq .Values.tls.mode "selfSigned" }}
@self-signed@
{{- else }}
@certificate@
{{- end }}
@webhooks@
{{- with .Values.operators | default (list @only@) }}
- {{ printf "--only=%s" (join "," .) | quote }}
{{- end }}
{{- with .Values.namespaces }}
- {{ printf "--namespaces=%s" (join "," .) | quote }}
{{- end }}
{{- if .Values.sharded }}
@sharded@
{{- else if gt (int .Values.replicas) 1 }}
@leader@
{{- end }}
{{- range .Values.args }}
- {{ . | quote }}
{{- end }}
{{- end -}}

{{- define "operetta.strategy" -}}
{{- if .Values.sharded -}}
@one-by-one@
{{- else if gt (int .Values.replicas) 1 -}}
type: RollingUpdate
{{- else -}}
type: Recreate
{{- end -}}
{{- end -}}

{{- define "operetta.secret" -}}
{{ .Values.tls.secretName | default (printf "%s-tls" .Release.Name) }}
{{- end -}}

{{- define "operetta.volumes" -}}
{{- if ne .Values.tls.mode "selfSigned" -}}
@volumes@
{{- end -}}
{{- with .Values.volumes }}
{{ toYaml . }}
{{- end -}}
{{- end -}}

{{- define "operetta.env" -}}
{{- if .Values.sharded -}}
@address@
{{- else if gt (int .Values.replicas) 1 -}}
@variables@
{{- end -}}
{{- with .Values.env }}
{{ toYaml . }}
{{- end -}}
{{- end -}}

{{- define "operetta.mounts" -}}
{{- if ne .Values.tls.mode "selfSigned" -}}
@mounts@
{{- end -}}
{{- with .Values.volumeMounts }}
{{ toYaml . }}
{{- end -}}
{{- end -}}

{{- define "operetta.spread" -}}
{{- with .Values.topologySpreadConstraints -}}
{{ toYaml . }}
{{- else -}}
@spread@
{{- end -}}
{{- end -}}

{{- define "operetta.podLabels" -}}
@labels@
{{- with .Values.podLabels }}
{{ toYaml . }}
{{- end -}}
{{- end -}}

{{- define "operetta.verification" -}}
{{- if eq .Values.tls.mode "selfSigned" -}}
insecureSkipVerify: true
{{- else -}}
@verification@
{{- end -}}
{{- end -}}

{{- define "operetta.scrape" -}}
endpoints:
- path: /metrics
  port: https
  scheme: https
  tlsConfig: {{ include `operetta.verification` . | nindent 4 }}
{{- with .Values.monitoring.tokenSecret }}
  authorization:
    credentials:
      key: {{ $.Values.monitoring.tokenKey }}
      name: {{ . }}
{{- else }}
scrapeClass: {{ .Values.monitoring.scrapeClass }}
{{- end }}
selector:
  matchLabels:
    app.kubernetes.io/instance: {{ .Release.Name }}
    app.kubernetes.io/name: {{ .Chart.Name }}
{{- end -}}

{{- define "operetta.egress" -}}
@dns@
- ports:
{{- range .Values.networkPolicy.apiServerPorts }}
  - port: {{ . }}
    protocol: TCP
{{- end }}
{{- with .Values.networkPolicy.to }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{- /* An upgrade keeps what is there. The key of the authority is forgotten, so that it signs nothing else. */ -}}
{{- define "operetta.generated" -}}
{{- $kept := lookup "v1" "Secret" .Release.Namespace (include "operetta.secret" .) -}}
{{- if $kept -}}
{{ toYaml $kept.data }}
{{- else -}}
{{- $host := printf "%s.%s.svc" .Release.Name .Release.Namespace -}}
{{- $leader := printf "%s-leader.%s.svc" .Release.Name .Release.Namespace -}}
{{- $names := list $host (printf "%s.cluster.local" $host) $leader (printf "%s.cluster.local" $leader) "localhost" -}}
{{- $authority := genCA (printf "%s-ca" .Release.Name) 3650 -}}
{{- $pair := genSignedCert .Release.Name nil $names 3650 $authority -}}
ca.crt: {{ $authority.Cert | b64enc }}
tls.crt: {{ $pair.Cert | b64enc }}
tls.key: {{ $pair.Key | b64enc }}
{{- end -}}
{{- end -}}
