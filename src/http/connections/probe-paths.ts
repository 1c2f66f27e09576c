/** What machines ask again and again, to know whether the gateway is well. */
export const PROBE_PATHS: ReadonlySet<string> = new Set(['/healthz', '/readyz', '/metrics'])
