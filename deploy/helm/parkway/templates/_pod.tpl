{{- /* The pod of the gateway or of its workers: a list of the root, the role and the resources. */ -}}
{{- define "parkway.pod" -}}
{{- $role := index . 1 -}}
{{- $resources := index . 2 -}}
{{- with index . 0 -}}
metadata:
  labels:
    {{- include "parkway.labels" . | nindent 4 }}
    app.kubernetes.io/component: {{ if eq $role "worker" }}worker{{ else }}gateway{{ end }}
    {{- with .Values.podLabels }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
  annotations:
    # New settings start new pods.
    checksum/settings: {{ printf "%s%s" (toJson .Values.settings) (toJson .Values.secretSettings) | sha256sum }}
    {{- with .Values.podAnnotations }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
spec:
  serviceAccountName: {{ include "parkway.name" . }}
  # Only a gateway that runs engines talks to the cluster.
  automountServiceAccountToken: {{ .Values.engines.enabled }}
  enableServiceLinks: false
  terminationGracePeriodSeconds: {{ int .Values.terminationGracePeriodSeconds }}
  {{- with .Values.priorityClassName }}
  priorityClassName: {{ . }}
  {{- end }}
  securityContext:
    runAsNonRoot: true
    runAsUser: 10001
    runAsGroup: 10001
    fsGroup: 10001
    fsGroupChangePolicy: OnRootMismatch
    seccompProfile:
      type: RuntimeDefault
  {{- with .Values.imagePullSecrets }}
  imagePullSecrets: {{- toYaml . | nindent 4 }}
  {{- end }}
  containers:
    - name: gateway
      image: "{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}"
      imagePullPolicy: {{ .Values.image.pullPolicy }}
      env:
        - name: HOST
          value: "0.0.0.0"
        - name: PORT
          value: "8080"
        - name: PARKWAY_DATA_DIR
          value: /data
        {{- if ne $role "all" }}
        - name: PARKWAY_ROLE
          value: {{ $role }}
        {{- end }}
        {{- range $name, $value := .Values.settings }}
        - name: {{ $name }}
          value: {{ include "parkway.text" $value | quote }}
        {{- end }}
        {{- if .Values.database.existingSecret }}
        - name: DATABASE_URL
          valueFrom:
            secretKeyRef:
              name: {{ .Values.database.existingSecret }}
              key: {{ .Values.database.key }}
        {{- end }}
        {{- if .Values.sealingKey.existingSecret }}
        - name: PARKWAY_SEALING_KEY
          valueFrom:
            secretKeyRef:
              name: {{ .Values.sealingKey.existingSecret }}
              key: {{ .Values.sealingKey.key }}
        {{- end }}
        {{- if not (or (hasKey .Values.settings "PARKWAY_METRICS_OPEN") (hasKey .Values.secretSettings "PARKWAY_METRICS_TOKEN")) }}
        - name: PARKWAY_METRICS_TOKEN
          valueFrom:
            secretKeyRef:
              name: {{ include "parkway.metricsSecret" . }}
              key: {{ .Values.metrics.key }}
        {{- end }}
        {{- if .Values.extraCa.configMap }}
        - name: NODE_EXTRA_CA_CERTS
          value: /etc/parkway/ca/{{ .Values.extraCa.key }}
        {{- end }}
        {{- if .Values.engines.enabled }}
        - name: PARKWAY_GPU_DRIVER
          value: kubernetes
        - name: PARKWAY_KUBERNETES_GPU
          value: {{ merge (dict "namespace" (include "parkway.enginesNamespace" .) "gateway_name" (include "parkway.name" .) "gateway_namespace" .Release.Namespace "gateway_labels" (include "parkway.instance" . | fromYaml)) .Values.engines.settings | toJson | quote }}
        {{- end }}
        {{- with .Values.extraEnv }}
        {{- toYaml . | nindent 8 }}
        {{- end }}
      envFrom:
        - secretRef:
            name: {{ include "parkway.name" . }}
        {{- if .Values.existingSecret }}
        - secretRef:
            name: {{ .Values.existingSecret }}
        {{- end }}
        {{- with .Values.extraEnvFrom }}
        {{- toYaml . | nindent 8 }}
        {{- end }}
      ports:
        - name: http
          containerPort: 8080
      startupProbe:
        httpGet: { path: /healthz, port: http }
        periodSeconds: 2
        failureThreshold: 90
      readinessProbe:
        httpGet: { path: /readyz, port: http }
        periodSeconds: 5
        timeoutSeconds: 3
      livenessProbe:
        httpGet: { path: /healthz, port: http }
        periodSeconds: 10
        timeoutSeconds: 5
      resources: {{- toYaml $resources | nindent 8 }}
      securityContext:
        allowPrivilegeEscalation: false
        readOnlyRootFilesystem: true
        capabilities:
          drop: [ALL]
      volumeMounts:
        - name: data
          mountPath: /data
        - name: temporary
          mountPath: /tmp
        {{- if .Values.extraCa.configMap }}
        - name: extra-ca
          mountPath: /etc/parkway/ca
          readOnly: true
        {{- end }}
        {{- with .Values.extraVolumeMounts }}
        {{- toYaml . | nindent 8 }}
        {{- end }}
  volumes:
    - name: temporary
      emptyDir:
        sizeLimit: {{ .Values.temporary.sizeLimit }}
    {{- if or (include "parkway.isShared" .) (not .Values.persistence.enabled) }}
    - name: data
      emptyDir:
        sizeLimit: {{ .Values.temporary.sizeLimit }}
    {{- else }}
    - name: data
      persistentVolumeClaim:
        claimName: {{ .Values.persistence.existingClaim | default (printf "%s-data" (include "parkway.name" .)) }}
    {{- end }}
    {{- if .Values.extraCa.configMap }}
    - name: extra-ca
      configMap:
        name: {{ .Values.extraCa.configMap }}
    {{- end }}
    {{- with .Values.extraVolumes }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
  {{- with .Values.nodeSelector }}
  nodeSelector: {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with .Values.tolerations }}
  tolerations: {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with .Values.affinity }}
  affinity: {{- toYaml . | nindent 4 }}
  {{- end }}
  topologySpreadConstraints:
    {{- if .Values.topologySpreadConstraints }}
    {{- toYaml .Values.topologySpreadConstraints | nindent 4 }}
    {{- else }}
    - maxSkew: 1
      topologyKey: kubernetes.io/hostname
      whenUnsatisfiable: ScheduleAnyway
      labelSelector:
        matchLabels:
          {{- include "parkway.instance" . | nindent 10 }}
          app.kubernetes.io/component: {{ if eq $role "worker" }}worker{{ else }}gateway{{ end }}
    {{- end }}
{{- end -}}
{{- end -}}
