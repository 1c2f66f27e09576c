import type { Schemas } from '../../api/gateway-client.ts'
import { clientCommand } from '../../client-command.ts'
import { CommandFailure } from '../../command-failure.ts'
import { EXIT } from '../../exit-codes.ts'
import { collect } from '../../input/collect.ts'
import { inBatches, readInputs } from '../../input/read-inputs.ts'
import { printableInLine } from '../../output/printable.ts'

interface ModerateOptions {
  readonly model?: string
  readonly file?: string[]
}

const BATCH = { countMax: 64, lengthMax: 500_000 }

type Judgement = Schemas['Moderation']['results'][number]

export const moderate = clientCommand<ModerateOptions>({
  name: 'moderate',
  summary: 'Check texts for harmful content, one line each.',
  example: 'parkway moderate "I will plant a tree."',
  define: (command) =>
    command
      .argument('[text...]', 'the texts; else lines of stdin, as text or as JSON with "text" and "id"')
      .option('-f, --file <path>', 'a file of such lines, more than once for several', collect)
      .option('-m, --model <id>', 'the model'),
  async act({ output, isJson, connect, printJsonLine }, { model, file = [] }, ...words) {
    const gateway = connect()
    let done = 0
    for await (const batch of inBatches(readInputs(words, file), BATCH)) {
      const body = { input: batch.map(({ text }) => text), ...(model === undefined ? {} : { model }) }
      const answer = await gateway.call((routes) => routes.POST('/v1/moderations', { body }))
      done += batch.length
      if (isJson) printJsonLine(answer)
      else
        for (const [index, judgement] of answer.results.entries()) {
          const { text = '', id } = batch[index] ?? {}
          output.line(
            `${describe(judgement)}\t${id === undefined ? '' : `${JSON.stringify(id)}\t`}${printableInLine(text)}`,
          )
        }
    }
    if (done === 0) throw new CommandFailure(EXIT.usage, 'There is no input.')
  },
})

function describe({ flagged, categories, category_scores: scores }: Judgement): string {
  if (!flagged) return 'ok'
  const found = Object.entries(categories).filter(([, isFound]) => isFound)
  const names = found.map(([name]) => `${name} ${(scores[name as keyof typeof scores] ?? 0).toFixed(2)}`)
  return printableInLine(`flagged: ${names.join(', ')}`)
}
