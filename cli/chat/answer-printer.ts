import { formatUsd } from '../output/format-usd.ts'
import { printable } from '../output/printable.ts'
import type { Output } from '../output/terminal.ts'
import { createWrappedWriter } from '../output/wrapped-writer.ts'
import type { AnswerSink, ChatEnd } from './stream-chat.ts'

interface AnswerPrinter extends AnswerSink {
  /** Ends the last line. */
  end(): void
}

/** Prints an answer as it arrives. A pipe gets the bytes of the model; a screen must not obey them. */
export function createAnswerPrinter(output: Output): AnswerPrinter {
  let isEmpty = true
  let isReasoning = false
  const writer = createWrappedWriter({
    write: (text) => output.write(isReasoning ? output.style('dim', text) : text),
    columns: () => output.columns,
  })
  const show = (part: string, ofReasoning: boolean): void => {
    if (isReasoning !== ofReasoning) {
      writer.flush()
      if (!isEmpty) writer.write('\n\n')
      isReasoning = ofReasoning
    }
    isEmpty = false
    writer.write(printable(part))
  }
  if (output.isTerminal)
    return {
      text: (part) => show(part, false),
      reasoning: (part) => show(part, true),
      end() {
        writer.flush()
        if (!isEmpty) output.write('\n')
      },
    }
  return {
    text(part) {
      isEmpty = false
      output.copy(part)
    },
    reasoning: () => {},
    end: () => (isEmpty ? undefined : output.write('\n')),
  }
}

/** Describes what an answer took. Returns null if the gateway did not tell. */
export function describeUsage({ usage, model }: ChatEnd): string | null {
  if (usage === null) return null
  const { prompt_tokens: input, completion_tokens: written, cost_usd: cost } = usage
  const price = cost === undefined ? '' : `, ${formatUsd(cost)}`
  return printable(`${model}: ${input} tokens in, ${written} out${price}`)
}
