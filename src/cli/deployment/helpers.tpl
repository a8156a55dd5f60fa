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
@only@
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
@volumes@
{{- end -}}
{{- end -}}

{{- define "operetta.mounts" -}}
{{- if eq .Values.tls.mode "selfSigned" -}}
[]
{{- else -}}
@mounts@
{{- end -}}
{{- end -}}

{{- define "operetta.verification" -}}
{{- if eq .Values.tls.mode "selfSigned" -}}
insecureSkipVerify: true
{{- else -}}
@verification@
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
