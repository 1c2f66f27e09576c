import type { CompleteAnswer } from '../provider.ts'

/** Returns an answer whose members are known, because the gateway translated it. Its bytes are made only if somebody sends them. */
export function writtenAnswer(value: object): CompleteAnswer {
  let payload: Buffer | null = null
  return {
    kind: 'complete',
    value,
    get payload() {
      payload ??= Buffer.from(JSON.stringify(value))
      return payload
    },
  }
}
