const DIGITS = '([0-9a-f]{8})([0-9a-f]{4})([0-9a-f]{4})([0-9a-f]{4})([0-9a-f]{12})'
const BATCH_ID = new RegExp(`^batch_${DIGITS}$`)
const MESSAGE_BATCH_ID = new RegExp(`^msgbatch_${DIGITS}$`)

/** The id of a batch for clients, such as `batch_01a1f453a9a9711e9615a634c727deac`. */
export function batchIdOf(uuid: string): string {
  return `batch_${uuid.replaceAll('-', '')}`
}

/** Returns null if it is not the id of a batch of this gateway. */
export function uuidOfBatch(batchId: string): string | null {
  return joinDigits(BATCH_ID.exec(batchId))
}

/** The id of a batch in Anthropic's form. */
export function messageBatchIdOf(uuid: string): string {
  return `msgbatch_${uuid.replaceAll('-', '')}`
}

/** Returns null if it is not the id of such a batch of this gateway. */
export function uuidOfMessageBatch(batchId: string): string | null {
  return joinDigits(MESSAGE_BATCH_ID.exec(batchId))
}

function joinDigits(parts: RegExpExecArray | null): string | null {
  return parts === null ? null : parts.slice(1).join('-')
}
