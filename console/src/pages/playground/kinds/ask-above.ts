const STORAGE_KEY = 'parkway.ask-above-usd'
const DEFAULT_USD = 0.5

/** Above this a request is asked about before it is sent. People set it in the question itself. */
export function readAskAboveUsd(): number {
  const kept = localStorage.getItem(STORAGE_KEY)
  return parseAskAbove(kept ?? '') ?? DEFAULT_USD
}

export function writeAskAboveUsd(usd: number): void {
  localStorage.setItem(STORAGE_KEY, String(usd))
}

/** Null for what is no amount. */
export function parseAskAbove(text: string): number | null {
  return /^\d{1,6}(?:\.\d{1,9})?$/.test(text.trim()) ? Number(text) : null
}
