{{- define "operetta.args" -}}
- --cluster=in-cluster
- --listen=0.0.0.0:8443
{{- with .Values.auth.audience }}
- {{ printf "--auth-audience=%s" . | quote }}
{{- end }}
{{- if eq .Values.tls.mode "selfSigned" }}
- --tls-self-signed
{{- else }}
- --tls-cert=/tls/tls.crt
- --tls-key=/tls/tls.key
{{- end }}
- --webhook-service={{ .Release.Name }}-webhooks
{{- with .Values.operators | default (list ) }}
- {{ printf "--only=%s" (join "," .) | quote }}
{{- end }}
{{- with .Values.namespaces }}
- {{ printf "--namespaces=%s" (join "," .) | quote }}
{{- end }}
{{- if .Values.sharded }}
- --sharded
{{- else if gt (int .Values.replicas) 1 }}
- --leader-elect
- --leader-elect-pod=$(POD_NAME)
{{- end }}
{{- range .Values.args }}
- {{ . | quote }}
{{- end }}
{{- end -}}

{{- define "operetta.strategy" -}}
{{- if .Values.sharded -}}
rollingUpdate:
  maxSurge: 1
  maxUnavailable: 0
type: RollingUpdate
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
- name: tls
  secret:
    secretName: {{ include `operetta.secret` . }}
{{- end -}}
{{- with .Values.volumes }}
{{ toYaml . }}
{{- end -}}
{{- end -}}

{{- define "operetta.env" -}}
{{- if .Values.sharded -}}
- name: POD_IP
  valueFrom:
    fieldRef:
      fieldPath: status.podIP
{{- else if gt (int .Values.replicas) 1 -}}
- name: POD_NAME
  valueFrom:
    fieldRef:
      fieldPath: metadata.name
{{- end -}}
{{- with .Values.env }}
{{ toYaml . }}
{{- end -}}
{{- end -}}

{{- define "operetta.mounts" -}}
{{- if ne .Values.tls.mode "selfSigned" -}}
- mountPath: /tls
  name: tls
  readOnly: true
{{- end -}}
{{- with .Values.volumeMounts }}
{{ toYaml . }}
{{- end -}}
{{- end -}}

{{- define "operetta.spread" -}}
{{- with .Values.topologySpreadConstraints -}}
{{ toYaml . }}
{{- else -}}
- labelSelector:
    matchLabels:
      app.kubernetes.io/instance: {{ .Release.Name }}
      app.kubernetes.io/name: {{ .Chart.Name }}
  maxSkew: 1
  topologyKey: kubernetes.io/hostname
  whenUnsatisfiable: ScheduleAnyway
{{- end -}}
{{- end -}}

{{- define "operetta.podLabels" -}}
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
helm.sh/chart: {{ .Chart.Name }}-{{ .Chart.Version | replace `+` `_` }}
{{- with .Values.podLabels }}
{{ toYaml . }}
{{- end -}}
{{- end -}}

{{- define "operetta.verification" -}}
{{- if eq .Values.tls.mode "selfSigned" -}}
insecureSkipVerify: true
{{- else -}}
ca:
  secret:
    key: ca.crt
    name: {{ include `operetta.secret` . }}
serverName: {{ .Release.Name }}.{{ .Release.Namespace }}.svc
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
- ports:
  - port: 53
    protocol: UDP
  - port: 53
    protocol: TCP
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
