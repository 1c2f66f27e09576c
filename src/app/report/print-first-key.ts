import type { FirstKey, ReadyGateway } from '../process/process-messages.ts'

/** Prints the key of the first account once, however the start goes on: it is stored as a hash and cannot be read again. */
export interface FirstKeyPrinter {
  /** Called when the key exists. It is printed with the announcement, or now if that takes longer or was printed before. */
  note(key: FirstKey): void
  /** Called when the announcement was printed, with the key in it. */
  announced(ready: Pick<ReadyGateway, 'bootstrapKey'>): void
  /** Prints the key now if it was not printed yet. */
  print(): void
}

/** The announcement usually follows within milliseconds, and then has the key in its example. */
const ANNOUNCEMENT_MS = 1_000

/** `given` is the key that the operator chose, which is not printed. */
export function createFirstKeyPrinter(write: (text: string) => void, given: string | null): FirstKeyPrinter {
  let waiting: string | null = null
  let isAnnounced = false
  let timer: NodeJS.Timeout | undefined
  const print = (): void => {
    clearTimeout(timer)
    process.off('exit', print)
    if (waiting === null) return
    write(`\nThe API key of the first account, shown this once: keep it.\n\n  ${waiting}\n\n`)
    waiting = null
  }
  return {
    note: ({ bootstrapKey }) => {
      if (bootstrapKey === given) return
      waiting = bootstrapKey
      if (isAnnounced) return print()
      timer = setTimeout(print, ANNOUNCEMENT_MS)
      process.on('exit', print)
    },
    announced: ({ bootstrapKey }) => {
      isAnnounced = true
      if (bootstrapKey !== null) waiting = null
      print()
    },
    print,
  }
}
