{{- define "parkway.name" -}}
{{- .Release.Name | trunc 40 | trimSuffix "-" -}}
{{- end -}}

{{- define "parkway.selector" -}}
app.kubernetes.io/name: parkway
app.kubernetes.io/instance: {{ include "parkway.name" . }}
{{- end -}}

{{- define "parkway.labels" -}}
{{ include "parkway.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ .Chart.Name }}-{{ .Chart.Version }}
{{- end -}}

{{- define "parkway.enginesNamespace" -}}
{{- .Values.engines.namespace | default .Release.Namespace -}}
{{- end -}}
