import { isSecretText, toSecretLine } from './secret-text.ts'

/** What a reference points to now, or why it cannot be read. Both: the secret of before, which stays in use while its store is away. */
export type SecretReading =
  | { readonly secret: string; readonly problem: string | null }
  | { readonly secret: null; readonly problem: string }

export function unreadable(problem: string): SecretReading {
  return { secret: null, problem }
}

/** The problem never contains what was read. */
export function checked(text: string): SecretReading {
  const secret = text.trim()
  if (secret === '') return unreadable('it is empty')
  return isSecretText(secret)
    ? { secret: toSecretLine(secret), problem: null }
    : unreadable('it is not one line of printable characters')
}
