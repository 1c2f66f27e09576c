/** What companies usually begin with. */
export const SETTINGS_EXAMPLES = {
  empty: { label: 'Empty settings', settings: {} },
  telemetry: {
    label: 'Send telemetry to the gateway',
    settings: {
      env: {
        CLAUDE_CODE_ENABLE_TELEMETRY: '1',
        OTEL_METRICS_EXPORTER: 'otlp',
        OTEL_LOGS_EXPORTER: 'otlp',
      },
    },
  },
  protection: {
    label: 'Keep agents from secrets and the web',
    settings: { permissions: { deny: ['WebFetch', 'Read(./.env)', 'Read(./secrets/**)'] } },
  },
  permission: {
    label: 'Always ask before agents act',
    settings: { permissions: { disableBypassPermissionsMode: 'disable' } },
  },
} as const

export type ExampleName = keyof typeof SETTINGS_EXAMPLES
