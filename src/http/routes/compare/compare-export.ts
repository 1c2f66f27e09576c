import type { FastifyReply } from 'fastify'
import { Type } from 'typebox'
import type { Cancellation } from '../../../kernel/cancellation.ts'
import { formatUsd } from '../../../kernel/money.ts'
import { cellSeed, type AskedCell, type Run } from '../../../modules/compare/compare.ts'
import { csvRow } from '../../answers/csv-row.ts'
import { writeHeadOf } from '../../answers/send-event-reply.ts'
import { drained } from '../../answers/send-events.ts'
import { CellAnswer, outputTokensPerSecond, timestampOf, toCellAnswer } from './compare-cell-wire.ts'
import type { BlindView } from '../../../modules/judging/judging.ts'
import { NO_ANSWERS, RunAnswer, toRunAnswer, type RunDetails } from './compare-wire.ts'
import { lookupTable } from '../../../kernel/lookup-table.ts'
import { described } from '../../../wires/described.ts'
import { objectName } from '../../../wires/usual-members.ts'

export const ExportAnswer = Type.Object(
  {
    object: objectName('compare.export'),
    exported_at: Type.String({ format: 'date-time', description: 'When it was exported.' }),
    run: described(RunAnswer, 'The run.'),
    prices: Type.Record(Type.String(), Type.Unknown(), { description: 'The price of each lane, by its id.' }),
    cells: Type.Array(CellAnswer, {
      description: 'Every answer, with its prompt and what is needed to ask the same again.',
    }),
  },
  { title: 'CompareExport' },
)

interface Export {
  readonly run: Run
  readonly view: BlindView
  readonly judged: Pick<RunDetails, 'judging' | 'decision'>
  readonly parts: AsyncIterable<readonly AskedCell[]>
  readonly format: 'json' | 'csv'
  /** Of the request: the export ends where the right to read it ends. */
  readonly cancellation: Cancellation
}

const CONTENT_TYPES = { json: 'application/json; charset=utf-8', csv: 'text/csv; charset=utf-8' } as const

/** Streams a whole run at the client's pace. An interrupted export closes the connection without a proper end. */
export async function sendExport(
  reply: FastifyReply,
  { run, view, judged, parts, format, cancellation }: Export,
  onBroken: (error: unknown) => void,
): Promise<void> {
  const response = reply.raw
  reply
    .header('content-type', CONTENT_TYPES[format])
    .header('content-disposition', `attachment; filename="compare-${run.id}.${format}"`)
    .header('cache-control', 'no-store')
  writeHeadOf(reply)
  try {
    const pieces = format === 'csv' ? writeCsv(run, view, parts) : writeJson({ run, view, judged, parts })
    for await (const piece of pieces) {
      if (response.destroyed) return
      if (cancellation.isCancelled) {
        response.destroy()
        return
      }
      if (!response.write(piece)) await drained(response)
    }
    response.end()
  } catch (error) {
    if (response.destroyed) return
    onBroken(error)
    response.destroy()
  }
}

export function isCsvAsked(accept: string | string[] | undefined): boolean {
  return accept?.toString().toLowerCase().includes('text/csv') === true
}

/** Hides in an export what the results of a blind run hide. */
export async function* presentParts(
  parts: AsyncIterable<readonly AskedCell[]>,
  view: BlindView,
): AsyncGenerator<readonly AskedCell[], void> {
  for await (const part of parts) {
    yield part.map(({ cell, prompt }) => ({
      cell: view.present(cell),
      prompt: view.isHidden(cell.promptIndex) ? { ...prompt, laneOrder: [] } : prompt,
    }))
  }
}

async function* writeJson({
  run,
  view,
  judged,
  parts,
}: Omit<Export, 'format' | 'cancellation'>): AsyncGenerator<string> {
  const prices = Object.fromEntries(run.lanes.map(({ id, price }) => [id, price]))
  const head = {
    object: 'compare.export',
    exported_at: new Date().toISOString(),
    run: toRunAnswer(run, view, { answers: NO_ANSWERS, batches: null, ...judged }),
    prices,
  }
  yield `${JSON.stringify(head).slice(0, -1)},"cells":[`
  let isFirst = true
  for await (const part of parts) {
    const texts = part.map((asked) => JSON.stringify(toExportedCell(run, asked)))
    yield (isFirst ? '' : ',') + texts.join(',')
    isFirst = false
  }
  yield ']}\n'
}

function toExportedCell(run: Run, { cell, prompt }: AskedCell): Record<string, unknown> {
  return {
    ...toCellAnswer(run, cell),
    prompt_id: prompt.id,
    messages: prompt.messages,
    expected: prompt.expected,
    lane_order: prompt.laneOrder.map((position) => run.lanes[position]?.id ?? null),
    answered_by: cell.model === null ? null : { model: cell.model, provider: cell.provider },
    seed: seedOf(run, cell),
  }
}

async function* writeCsv(run: Run, view: BlindView, parts: Export['parts']): AsyncGenerator<string> {
  const { names, columns } = columnsOf(run)
  const shown = { run, seed: view.isHidden() ? null : run.seed }
  yield csvRow(names)
  for await (const part of parts)
    yield part.map((asked) => csvRow(columns.map((read) => read(asked, shown)))).join('')
}

/** The columns of every run, and one for each score of this one. */
function columnsOf({ scores }: Run) {
  const names = scores.map(({ name }) => `score ${name}`)
  const reads = scores.map(
    ({ name }) =>
      ({ cell }: AskedCell): CsvValue =>
        cell.scores?.[name]?.score,
  )
  return { names: [...Object.keys(COLUMNS), ...names], columns: [...Object.values(COLUMNS), ...reads] }
}

type CsvValue = string | number | null | undefined

/** The run, and its seed unless that would tell lanes apart. */
interface ShownRun {
  readonly run: Run
  readonly seed: number | null
}

/** Columns in every row that allow repeating the same call. */
const COLUMNS = lookupTable<(asked: AskedCell, shown: ShownRun) => CsvValue>({
  run_id: (_, { run }) => run.id,
  run_name: (_, { run }) => run.name,
  run_seed: (_, { seed }) => seed,
  dataset_id: (_, { run }) => run.datasetId,
  dataset_version: (_, { run }) => run.datasetVersion,
  prompt_index: ({ cell }) => cell.promptIndex,
  prompt_id: ({ prompt }) => prompt.id,
  repeat: ({ cell }) => cell.repeat,
  turn: ({ cell }) => cell.turn,
  lane_id: ({ cell }) => cell.laneId,
  lane_name: ({ cell }, { run }) => laneOf(run, cell)?.name,
  model: ({ cell }, { run }) => laneOf(run, cell)?.model,
  model_id: ({ cell }) => cell.model,
  provider: ({ cell }) => cell.provider,
  params: ({ cell }, { run }) => JSON.stringify(laneOf(run, cell)?.params ?? {}),
  price: ({ cell }, { run }) => JSON.stringify(laneOf(run, cell)?.price ?? null),
  seed: ({ cell }, { run }) => seedOf(run, cell),
  messages: ({ prompt }) => JSON.stringify(prompt.messages),
  expected: ({ prompt }) => (prompt.expected === null ? null : JSON.stringify(prompt.expected)),
  status: ({ cell }) => cell.status,
  output: ({ cell }) => cell.output,
  reasoning: ({ cell }) => cell.reasoning,
  tool_calls: ({ cell }) => (cell.toolCalls === null ? null : JSON.stringify(cell.toolCalls)),
  finish_reason: ({ cell }) => cell.finishReason,
  prompt_tokens: ({ cell }) => cell.usage?.promptTokens,
  cached_tokens: ({ cell }) => cell.usage?.cachedTokens,
  cache_write_tokens: ({ cell }) => (cell.usage === null ? null : (cell.usage.cacheWriteTokens ?? 0)),
  completion_tokens: ({ cell }) => cell.usage?.completionTokens,
  reasoning_tokens: ({ cell }) => cell.usage?.reasoningTokens,
  cost_usd: ({ cell }) => formatUsd(cell.costNanoUsd),
  latency_ms: ({ cell }) => cell.latencyMs,
  ttft_ms: ({ cell }) => cell.ttftMs,
  output_tokens_per_second: ({ cell }) => outputTokensPerSecond(cell),
  score: ({ cell }) => cell.score,
  judge: ({ cell }) => (cell.judge === null ? null : JSON.stringify(cell.judge)),
  error_code: ({ cell }) => cell.error?.code,
  error_message: ({ cell }) => cell.error?.message,
  request_id: ({ cell }) => cell.requestId,
  started_at: ({ cell }) => timestampOf(cell.startedAt),
  completed_at: ({ cell }) => timestampOf(cell.completedAt),
})

function laneOf(run: Run, { laneId }: AskedCell['cell']) {
  return run.lanes.find(({ id }) => id === laneId)
}

/** Returns the seed of the cell. Each repeat of a lane with a seed uses another one. */
function seedOf(run: Run, cell: AskedCell['cell']): number | null {
  const seed = laneOf(run, cell)?.params['seed']
  return typeof seed === 'number' ? cellSeed(seed, cell.repeat) : null
}
