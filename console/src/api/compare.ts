import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import { call, client, type Schemas } from './client.ts'
import { cursorPages } from './cursor-pages.ts'
import { sendOperation } from './send-operation.ts'

export type CompareRun = Schemas['CompareRun']
export type CompareCell = Schemas['CompareCell']
export type ComparePrompt = Schemas['ComparePrompt']

const POLL_MS = 700
/** Cells that the grid of a run shows at most. The export has all of them. */
const CELL_PAGES_MAX = 20
const CELLS_A_PAGE = 100

export const isUnderWay = ({ status }: Pick<CompareRun, 'status'>): boolean =>
  status === 'queued' || status === 'running'

export const runListQuery = (search = '') => ({
  ...cursorPages({
    queryKey: ['compare', 'runs', search],
    fetchPage: (after, signal) =>
      call(() =>
        client.GET('/v1/compare/runs', {
          params: { query: { after, limit: 50, ...(search !== '' && { search }) } },
          signal,
        }),
      ),
  }),
  refetchInterval: ({
    state,
  }: {
    readonly state: { readonly data?: { readonly pages: readonly unknown[] } | undefined }
  }) => ((state.data?.pages.length ?? 0) > 1 ? (false as const) : 5_000),
})

export const runQuery = (id: string) =>
  queryOptions({
    queryKey: ['compare', 'run', id],
    queryFn: ({ signal }) =>
      call(() => client.GET('/v1/compare/runs/{run_id}', { params: { path: { run_id: id } }, signal })),
    refetchInterval: ({ state }) => (state.data === undefined || isUnderWay(state.data) ? POLL_MS : false),
  })

/** The cells of a run and the beginnings of its prompts, read again while it is under way. */
export const cellsQuery = (id: string, isRunning: boolean) =>
  queryOptions({
    // The key changes when the run ends, so that the last answers are read too.
    queryKey: ['compare', 'cells', id, isRunning],
    queryFn: async ({ signal }) => {
      const cells: CompareCell[] = []
      const prompts = new Map<number, ComparePrompt>()
      let after: string | undefined
      for (let page = 0; page < CELL_PAGES_MAX; page += 1) {
        const params = { path: { run_id: id }, query: { after, limit: CELLS_A_PAGE } }
        const list = await call(() => client.GET('/v1/compare/runs/{run_id}/results', { params, signal }))
        cells.push(...list.data)
        for (const prompt of list.prompts) prompts.set(prompt.prompt_index, prompt)
        if (list.next_cursor === null) break
        after = list.next_cursor
      }
      return { cells, prompts }
    },
    placeholderData: keepPreviousData,
    // A large run is read less often, because each reading is a request for every page.
    refetchInterval: ({ state }) =>
      isRunning && POLL_MS * Math.max(1, Math.ceil((state.data?.cells.length ?? 0) / CELLS_A_PAGE)),
  })

export type RunOrder = Schemas['CompareRunRequest']

/** About what a run would cost and take. Null: there is nothing to estimate yet. */
export const estimateQuery = (order: RunOrder | null) =>
  queryOptions({
    queryKey: ['compare-estimate', order],
    queryFn: ({ signal }) =>
      order === null ? null : call(() => client.POST('/v1/compare/estimates', { body: order, signal })),
    enabled: order !== null,
    placeholderData: keepPreviousData,
    retry: false,
  })

export const createRun = (body: RunOrder) => call(() => client.POST('/v1/compare/runs', { body }))

export const cancelRun = (id: string) =>
  call(() => client.POST('/v1/compare/runs/{run_id}/cancel', { params: { path: { run_id: id } } }))

/** Asks what failed or was never asked. */
export const resumeRun = (id: string, budgetUsd: number | null) =>
  call(() =>
    client.POST('/v1/compare/runs/{run_id}/resume', {
      params: { path: { run_id: id } },
      body: { budget_usd: budgetUsd },
    }),
  )

export type Outcome = 'winner' | 'tie' | 'both_bad'

/** What is voted on: the first prompt of a run, unless it is told. */
interface VotedPrompt {
  readonly promptIndex: number
  /** Null for all repeats. */
  readonly repeat: number | null
}

/** Votes on a prompt of a run. For a tie any lane can be named. */
export const voteOnPrompt = (
  runId: string,
  laneId: string,
  outcome: Outcome,
  { promptIndex, repeat }: VotedPrompt = { promptIndex: 0, repeat: null },
) =>
  call(() =>
    client.POST('/v1/compare/runs/{run_id}/lanes/{lane_id}/winner', {
      params: { path: { run_id: runId, lane_id: laneId } },
      body: { prompt_index: promptIndex, repeat, tie: outcome === 'tie', both_bad: outcome === 'both_bad' },
    }),
  )

export const leaderboardQuery = (source: 'human' | 'judge' | undefined) =>
  queryOptions({
    queryKey: ['compare', 'leaderboard', source],
    queryFn: ({ signal }) =>
      call(() => client.GET('/v1/compare/leaderboard', { params: { query: { source } }, signal })),
    placeholderData: keepPreviousData,
  })

export const datasetsQuery = queryOptions({
  queryKey: ['compare', 'datasets'],
  queryFn: async ({ signal }) =>
    (await call(() => client.GET('/v1/compare/datasets', { params: { query: { limit: 100 } }, signal })))
      .data,
})

export const createDataset = (name: string, prompts: readonly string[]) =>
  call(() => client.POST('/v1/compare/datasets', { body: { name, prompts: [...prompts] } }))

/** Makes a dataset of the prompts of a run whose answers failed, or have a low score. */
export const createFailures = (runId: string) =>
  call(() => client.POST('/v1/compare/datasets', { body: { from_run: { run_id: runId } } }))

/** Makes a dataset of the prompts of a batch, with its answers as what a judge expects. */
export const createDatasetOfBatch = (batchId: string) =>
  call(() => client.POST('/v1/compare/datasets', { body: { from_batch: { batch_id: batchId } } }))

/** Makes a dataset of a file of CSV, or of JSON lines. Without a name it is named like the file. */
export async function uploadDataset(file: File, name: string): Promise<Schemas['CompareDataset']> {
  const { json } = await sendOperation(
    { path: '/v1/compare/datasets', body: name === '' ? {} : { name }, files: { file } },
    new AbortController().signal,
  )
  // The shape is that of the API's own document.
  return json as Schemas['CompareDataset']
}

/** What changed between two runs of one dataset. */
export const diffQuery = (id: string, against: string) =>
  queryOptions({
    queryKey: ['compare', 'diff', id, against],
    queryFn: ({ signal }) =>
      call(() =>
        client.GET('/v1/compare/runs/{run_id}/diff', {
          params: { path: { run_id: id }, query: { against } },
          signal,
        }),
      ),
  })
