import type { IncomingHttpHeaders } from 'node:http'

/** Whether a client of a path that serves both wires speaks Anthropic's: its SDKs send one of these headers. */
export function speaksAnthropic({
  'anthropic-version': version,
  'anthropic-beta': beta,
}: Readonly<IncomingHttpHeaders>): boolean {
  return version !== undefined || String(beta ?? '').includes('files-api-')
}
