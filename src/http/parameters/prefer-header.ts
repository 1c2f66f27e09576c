import type { DeliveryPreference } from '../../modules/generation/generation.ts'

const WAIT_SECONDS_MAX = 60

/** Parses the `Prefer` header (RFC 7240). Ignores unknown preferences, as the RFC allows. */
export function parsePrefer(header: string | readonly string[] | undefined): DeliveryPreference {
  const text = typeof header === 'string' ? header : (header ?? []).join(',')
  const preferences = text.split(/[,;]/).map((part) => part.trim().toLowerCase())
  const seconds = preferences.map((part) => /^wait\s*=\s*"?(\d{1,9})"?$/.exec(part)?.[1]).find(Boolean)
  return {
    isAsyncWanted: preferences.includes('respond-async'),
    waitSeconds: seconds === undefined ? null : Math.min(Number(seconds), WAIT_SECONDS_MAX),
  }
}
