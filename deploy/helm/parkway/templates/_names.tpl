{{- define "parkway.name" -}}
{{- .Release.Name | trunc 40 | trimSuffix "-" -}}
{{- end -}}

{{- define "parkway.instance" -}}
app.kubernetes.io/name: parkway
app.kubernetes.io/instance: {{ include "parkway.name" . }}
{{- end -}}

{{- define "parkway.selector" -}}
{{ include "parkway.instance" . }}
app.kubernetes.io/component: gateway
{{- end -}}

{{- define "parkway.labels" -}}
{{ include "parkway.instance" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ .Chart.Name }}-{{ .Chart.Version }}
{{- end -}}

{{- define "parkway.enginesNamespace" -}}
{{- .Values.engines.namespace | default .Release.Namespace -}}
{{- end -}}

{{- define "parkway.metricsSecret" -}}
{{- .Values.metrics.existingSecret | default (printf "%s-metrics" (include "parkway.name" .)) -}}
{{- end -}}

{{- /* Helm reads numbers as floats, which it would write as 3.3554432e+07. */ -}}
{{- define "parkway.text" -}}
{{- if kindIs "float64" . -}}
{{- if eq . (floor .) -}}{{ printf "%.0f" . }}{{- else -}}{{ . | toString }}{{- end -}}
{{- else if or (kindIs "map" .) (kindIs "slice" .) -}}
{{- toJson . -}}
{{- else -}}
{{- . | toString -}}
{{- end -}}
{{- end -}}

{{- /* Whether more than one pod runs. */ -}}
{{- define "parkway.isShared" -}}
{{- if or (gt (int .Values.replicas) 1) .Values.autoscaling.enabled .Values.workers.enabled -}}true{{- end -}}
{{- end -}}

{{- define "parkway.isSet" -}}
{{- $name := index . 1 -}}
{{- with index . 0 -}}
{{- if or (hasKey .Values.settings $name) (hasKey .Values.secretSettings $name) .Values.existingSecret .Values.extraEnv .Values.extraEnvFrom -}}true{{- end -}}
{{- end -}}
{{- end -}}

{{- define "parkway.check" -}}
{{- if include "parkway.isShared" . -}}
{{- if not .Values.database.existingSecret -}}
{{- fail "several replicas need database.existingSecret" -}}
{{- end -}}
{{- if not (or .Values.sealingKey.existingSecret (include "parkway.isSet" (list . "PARKWAY_SEALING_KEY"))) -}}
{{- fail "several replicas need one sealing key: sealingKey.existingSecret, or PARKWAY_SEALING_KEY in secretSettings or existingSecret" -}}
{{- end -}}
{{- if not (include "parkway.isSet" (list . "MEDIA_STORE_URL")) -}}
{{- fail "several replicas need one bucket for files: MEDIA_STORE_URL in settings, secretSettings or existingSecret" -}}
{{- end -}}
{{- end -}}
{{- end -}}
