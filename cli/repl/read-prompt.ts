import { createInterface } from 'node:readline'
import { toOneLine, type PastedTexts } from './pasted-text.ts'
import type { Keyboard } from './keyboard.ts'

/** What a person entered: a text, Ctrl-C or Ctrl-D. */
export type Entry =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'interrupt' }
  | { readonly kind: 'end' }

interface ReadOptions {
  readonly keyboard: Keyboard
  readonly output: NodeJS.WriteStream
  readonly pasted: PastedTexts
  /** Oldest first. */
  readonly history: readonly string[]
  readonly prompt: string
}

const CONTINUED = '… '
const QUOTES = '"""'

/** Reads a text. It continues on the next line after a backslash, and until the closing one of `"""`. */
export async function readPrompt(options: ReadOptions): Promise<Entry> {
  let text = ''
  for (let isFirst = true; ; isFirst = false) {
    const entry = await readOneLine({ ...options, prompt: isFirst ? options.prompt : CONTINUED })
    if (entry.kind !== 'text') return entry
    text += options.pasted.restore(entry.text)
    if (isInQuotes(text)) text += '\n'
    else if (text.endsWith('\\')) text = `${text.slice(0, -1)}\n`
    else return { kind: 'text', text: text.replaceAll(QUOTES, '').trim() }
  }
}

function isInQuotes(text: string): boolean {
  return text.split(QUOTES).length % 2 === 0
}

function readOneLine({ keyboard, output, history, prompt }: ReadOptions): Promise<Entry> {
  return new Promise((done) => {
    const lines = createInterface({
      input: keyboard.keys,
      output,
      terminal: true,
      // The newest first.
      history: history.map(toOneLine).toReversed(),
      historySize: history.length + 1,
      prompt,
    })
    // The first entry counts: closing is an event, too.
    const end = (entry: Entry): void => {
      done(entry)
      lines.close()
    }
    lines.on('line', (text) => end({ kind: 'text', text }))
    lines.on('SIGINT', () => {
      output.write('\n')
      end({ kind: 'interrupt' })
    })
    lines.on('close', () => end({ kind: 'end' }))
    lines.prompt()
    keyboard.readLine()
  })
}
