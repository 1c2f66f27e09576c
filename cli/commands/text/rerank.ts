import { clientCommand } from '../../client-command.ts'
import { CommandFailure } from '../../command-failure.ts'
import { EXIT } from '../../exit-codes.ts'
import { collect } from '../../input/collect.ts'
import { parseWhole } from '../../input/parse-number.ts'
import { readInputs } from '../../input/read-inputs.ts'
import { formatUsd } from '../../output/format-usd.ts'
import { printTable } from '../../output/tables/print-table.ts'
import { formatNumber } from '../../output/format-number.ts'

interface RerankOptions {
  readonly model?: string
  readonly top?: string
  readonly file?: string[]
}

/** One ranking is one request, so that more documents than the API takes cannot be ranked. */
const DOCUMENTS_MAX = 1_000
const LENGTH_MAX = 8 * 1024 * 1024

export const rerank = clientCommand<RerankOptions>({
  name: 'rerank',
  summary: 'Rank documents by their relevance to a query, the best first.',
  example: 'parkway rerank "How do I return a purchase?" -f answers.txt --top 3',
  define: (command) =>
    command
      .argument('<query>', 'what the documents should be about')
      .argument('[document...]', 'the documents; else lines of stdin, as text or as JSON with "text"')
      .option('-f, --file <path>', 'a file of such lines, more than once for several', collect)
      .option('-m, --model <id>', 'the model')
      .option('--top <number>', 'only this many of the best'),
  async act({ output, isJson, connect, printJson }, options, query = '', ...words) {
    const { model, top, file = [] } = options
    const best = top === undefined ? undefined : parseWhole('--top', top)
    const documents = await readDocuments(words, file)
    const body = {
      query,
      documents,
      ...(model === undefined ? {} : { model }),
      ...(best === undefined ? {} : { top_n: best }),
    }
    const ranking = await connect().call((routes) => routes.POST('/v1/rerank', { body }))
    if (isJson) return printJson(ranking)
    printTable(
      output,
      [
        { title: 'score', of: (result) => formatNumber(result.relevance_score, 3), isNumber: true },
        { title: 'line', of: ({ index }) => String(index + 1), isNumber: true, rank: 2 },
        { title: 'document', of: ({ index }) => documents[index] ?? '', rank: 1, isText: true },
      ],
      ranking.results,
    )
    output.note(`${ranking.model}, ${formatUsd(ranking.usage.cost_usd)}`)
  },
})

async function readDocuments(words: readonly string[], files: readonly string[]): Promise<string[]> {
  const documents: string[] = []
  let length = 0
  for await (const { text } of readInputs(words, files)) {
    documents.push(text)
    length += text.length
    if (documents.length > DOCUMENTS_MAX || length > LENGTH_MAX)
      throw new CommandFailure(
        EXIT.usage,
        `There are more than ${DOCUMENTS_MAX} documents or ${LENGTH_MAX / 1024 / 1024} MiB of them, which is too much for one ranking.`,
      )
  }
  if (documents.length === 0) throw new CommandFailure(EXIT.usage, 'There are no documents.')
  return documents
}
