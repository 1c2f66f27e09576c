export const TELEMETRY_SIGNALS = ['metrics', 'logs', 'traces'] as const
export type TelemetrySignal = (typeof TELEMETRY_SIGNALS)[number]
