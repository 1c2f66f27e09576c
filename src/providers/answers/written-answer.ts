import type { CompleteAnswer } from '../provider.ts'

/** Returns an answer that the gateway wrote itself: whoever reads its members does not parse them again. */
export function writtenAnswer(value: object): CompleteAnswer {
  let payload: Buffer | null = null
  return {
    kind: 'complete',
    value,
    // Written only if it is sent: an answer that is translated is not.
    get payload() {
      payload ??= Buffer.from(JSON.stringify(value))
      return payload
    },
  }
}
