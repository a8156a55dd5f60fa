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
{{- if gt (int .Values.replicas) 1 }}
- --leader-elect
{{- end }}
{{- range .Values.args }}
- {{ . | quote }}
{{- end }}
{{- end -}}

{{- define "operetta.secret" -}}
{{ .Values.tls.secretName | default (printf "%s-tls" .Release.Name) }}
{{- end -}}

{{- define "operetta.volumes" -}}
{{- if eq .Values.tls.mode "selfSigned" -}}
[]
{{- else -}}
- name: tls
  secret:
    secretName: {{ include `operetta.secret` . }}
{{- end -}}
{{- end -}}

{{- define "operetta.mounts" -}}
{{- if eq .Values.tls.mode "selfSigned" -}}
[]
{{- else -}}
- mountPath: /tls
  name: tls
  readOnly: true
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

{{- /* An upgrade keeps what is there. The key of the authority is forgotten, so that it signs nothing else. */ -}}
{{- define "operetta.generated" -}}
{{- $kept := lookup "v1" "Secret" .Release.Namespace (include "operetta.secret" .) -}}
{{- if $kept -}}
{{ toYaml $kept.data }}
{{- else -}}
{{- $host := printf "%s.%s.svc" .Release.Name .Release.Namespace -}}
{{- $names := list $host (printf "%s.cluster.local" $host) "localhost" -}}
{{- $authority := genCA (printf "%s-ca" .Release.Name) 3650 -}}
{{- $pair := genSignedCert .Release.Name nil $names 3650 $authority -}}
ca.crt: {{ $authority.Cert | b64enc }}
tls.crt: {{ $pair.Cert | b64enc }}
tls.key: {{ $pair.Key | b64enc }}
{{- end -}}
{{- end -}}
