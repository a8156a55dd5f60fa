{{- define "operetta.args" -}}
- --cluster=in-cluster
- --listen=0.0.0.0:8443
- --tls-self-signed
{{- if gt (int .Values.replicas) 1 }}
- --leader-elect
{{- end }}
{{- range .Values.args }}
- {{ . | quote }}
{{- end }}
{{- end -}}
