/** Reads what somebody typed as a key: the key itself, or where the gateway reads it. */
export function readKey(text: string): { api_key: string } | { secret_ref: string } {
  const typed = text.trim()
  return /^(env|file):/.test(typed) ? { secret_ref: typed } : { api_key: typed }
}
