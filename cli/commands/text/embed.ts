import { clientCommand, type CommandContext } from '../../client-command.ts'
import { CommandFailure } from '../../command-failure.ts'
import { EXIT } from '../../exit-codes.ts'
import { collect } from '../../input/collect.ts'
import { parseWhole } from '../../input/parse-number.ts'
import { inBatches, readInputs, type TextInput } from '../../input/read-inputs.ts'
import { formatUsd } from '../../output/format-usd.ts'
import { printable } from '../../output/printable.ts'
import type { Schemas } from '../../api/gateway-client.ts'
import { firstReadyModel } from '../make/make-media.ts'

interface EmbedOptions {
  readonly model?: string
  readonly dimensions?: string
  readonly file?: string[]
}

/** Far below what the API takes, so that results come soon and a failure loses little. */
const BATCH = { countMax: 256, lengthMax: 1_000_000 }
const SHOWN_NUMBERS = 4

export const embed = clientCommand<EmbedOptions>({
  name: 'embed',
  summary: 'Turn texts into vectors, one JSON line each.',
  example: 'cat notes.jsonl | parkway embed > vectors.jsonl',
  define: (command) =>
    command
      .argument('[text...]', 'the texts; else lines of stdin, as text or as JSON with "text" and "id"')
      .option('-f, --file <path>', 'a file of such lines, more than once for several', collect)
      .option('-m, --model <id>', 'the model; by default the first one that is ready')
      .option('--dimensions <number>', 'the length of the vectors, where the model can choose it'),
  async act(context, options, ...words) {
    const gateway = context.connect()
    const dimensions =
      options.dimensions === undefined ? undefined : parseWhole('--dimensions', options.dimensions)
    let model = options.model
    let done = 0
    let costUsd = 0
    for await (const batch of inBatches(readInputs(words, options.file ?? []), BATCH)) {
      model ??= await firstReadyModel(gateway, { category: 'embedding' })
      const input = batch.map(({ text }) => text)
      const body = { model, input, ...(dimensions === undefined ? {} : { dimensions }) }
      const list = await gateway.call((routes) => routes.POST('/v1/embeddings', { body }))
      printVectors(context, list, { batch, done })
      done += batch.length
      costUsd += list.usage.cost_usd
    }
    if (done === 0) throw new CommandFailure(EXIT.usage, 'There is no input.')
    context.output.note(`${printable(model ?? '')}, ${done} texts, ${formatUsd(costUsd)}`)
  },
})

function printVectors(
  { output, isJson, printJsonLine }: CommandContext,
  list: Schemas['EmbeddingList'],
  { batch, done }: { batch: readonly TextInput[]; done: number },
): void {
  if (isJson) return printJsonLine(list)
  for (const { index, embedding } of list.data) {
    const { id, text } = batch[index] ?? { id: undefined, text: '' }
    if (output.isTerminal && Array.isArray(embedding)) {
      const shown = embedding.slice(0, SHOWN_NUMBERS).map((number) => number.toFixed(4))
      output.line(`${embedding.length} numbers [${shown.join(', ')}, …]  ${printable(text).slice(0, 40)}`)
    } else printJsonLine({ index: done + index, ...(id === undefined ? {} : { id }), embedding })
  }
}
