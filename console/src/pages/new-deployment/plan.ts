/** What the form of a new deployment holds, as text. */
export interface Plan {
  readonly name: string
  readonly token: string
  readonly quantization: string
  readonly contextTokens: string
  readonly budgetUsd: string
  readonly idleMinutes: string
}

export const EMPTY_PLAN: Plan = {
  name: '',
  token: '',
  quantization: 'auto',
  contextTokens: '',
  budgetUsd: '5',
  idleMinutes: '15',
}

/** Returns the number that was entered, or undefined if it is none. */
export function numberIn(text: string): number | undefined {
  const value = Number(text)
  return text.trim() === '' || !Number.isFinite(value) ? undefined : value
}
