import { Type } from 'typebox'
import { invalidValue } from '../../../kernel/app-error.ts'
import type { Cell, Compare, Run } from '../../../modules/compare/compare.ts'
import { CELL_STATUSES, RUN_STATUSES } from '../../../modules/compare/compare.ts'
import { readerOf, type Caller } from '../../../modules/keys/keys.ts'
import { voterOf, type BlindView, type Judging } from '../../../modules/judging/judging.ts'
import {
  ListQuery,
  listAnswer,
  listSchema,
  PAGE_LIMIT_DEFAULT,
  parsePageRequest,
} from '../../answers/list-page.ts'
import { parseUsd } from '../../parameters/parse-usd.ts'
import { inProject } from '../../access.ts'
import { defineRoute, type Route } from '../../route.ts'
import { ExportAnswer, isCsvAsked, presentParts, sendExport } from './compare-export.ts'
import { compareEstimateRoutes } from './compare-estimates.ts'
import { Budget, readRunOrder, RunCreateBody, type PromptSources } from './compare-run-request.ts'
import { CellAnswer, PromptAnswer, toCellAnswer, toPromptAnswer } from './compare-cell-wire.ts'
import type { FirstAnswers, LaneAnswers } from './compare-lane-wire.ts'
import { RunAnswer, toRunAnswer, type RunDetails } from './compare-wire.ts'

const RunParams = Type.Object({ run_id: Type.String({ description: 'The id of a run.' }) })

const RunListQuery = Type.Object({
  ...ListQuery.properties,
  status: Type.Optional(Type.Enum([...RUN_STATUSES], { description: 'Only runs in this state.' })),
  dataset_id: Type.Optional(Type.String({ format: 'uuid', description: 'Only runs of this dataset.' })),
  search: Type.Optional(
    Type.String({
      maxLength: 200,
      description: 'Only runs whose name, or the name of one of their models, contains this, in any case.',
    }),
  ),
})

const CellListQuery = Type.Object({
  ...ListQuery.properties,
  lane_id: Type.Optional(Type.String({ format: 'uuid', description: 'Only answers of this lane.' })),
  prompt_index: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: 1_000_000,
      description: 'Only answers to the prompt at this position.',
    }),
  ),
  status: Type.Optional(Type.Enum([...CELL_STATUSES], { description: 'Only answers in this state.' })),
})

const ExportQuery = Type.Object({
  format: Type.Optional(
    Type.Enum(['json', 'csv'], { description: 'JSON unless told, or unless `accept` asks for `text/csv`.' }),
  ),
})

const ResumeBody = Type.Object(
  { budget_usd: Type.Optional(Type.Union([Budget, Type.Null()])) },
  { examples: [{ budget_usd: 5 }] },
)

interface CompareRunRouteOptions {
  readonly compare: Compare
  readonly judging: Pick<Judging, 'viewRun' | 'viewRuns' | 'readProgress' | 'readJudgements' | 'decideRun'>
  readonly sources: PromptSources
  /** Called when an export breaks off. */
  readonly onBroken: (error: unknown, requestId: string) => void
}

export const compareRunRoutes = ({
  compare,
  judging,
  sources,
  onBroken,
}: CompareRunRouteOptions): Route[] => {
  const shared = { tag: 'Compare', access: inProject('models.use', 'compare.manage') } as const
  const RunList = listSchema('runs', RunAnswer)

  return [
    ...compareEstimateRoutes({ compare, sources }),
    defineRoute({
      ...shared,
      method: 'POST',
      path: '/v1/compare/runs',
      takesTags: 'header',
      summary: 'Ask several models the same',
      isChargedByCall: true,
      body: RunCreateBody,
      responses: {
        201: { description: 'The run, with about what it will cost and take.', schema: RunAnswer },
      },
      handle: async ({ caller, body, reply }) => {
        const run = await compare.create(await readRunOrder(caller, body, sources))
        reply.code(201)
        return toRunAnswer(run, await judging.viewRun(run, voterOf(caller)))
      },
    }),
    defineRoute({
      ...shared,
      method: 'GET',
      path: '/v1/compare/runs',
      summary: 'List runs',
      query: RunListQuery,
      responses: { 200: { description: 'The runs of the account, newest first.', schema: RunList } },
      handle: async ({ caller, query }) => {
        const filter = { status: query.status, datasetId: query.dataset_id, search: query.search }
        const page = await compare.list(readerOf(caller, 'log.read'), filter, parsePageRequest(query))
        const viewOf = await judging.viewRuns(page.items, voterOf(caller))
        return listAnswer('runs', page, (run) => toRunAnswer(run, viewOf(run)))
      },
    }),
    defineRoute({
      ...shared,
      method: 'GET',
      path: '/v1/compare/runs/:run_id',
      summary: 'Read a run',
      params: RunParams,
      responses: {
        200: {
          description:
            'The run, with what its lanes came to so far; when it has ended, with the first answers of each lane.',
          schema: RunAnswer,
        },
      },
      handle: async ({ caller, params }) => {
        const run = await compare.read(caller, params.run_id)
        const view = await judging.viewRun(run, voterOf(caller))
        const answers = await readFirstAnswers(compare, run, view)
        const batches = await compare.readBatches(run)
        return toRunAnswer(run, view, { answers, batches, ...(await readJudged(judging, caller, run, view)) })
      },
    }),
    defineRoute({
      ...shared,
      method: 'GET',
      path: '/v1/compare/runs/:run_id/results',
      summary: 'List the cells of a run',
      params: RunParams,
      query: CellListQuery,
      responses: {
        200: {
          description: 'In the order of prompts, repeats and lanes.',
          schema: listSchema('results', CellAnswer, {
            prompts: Type.Array(PromptAnswer, {
              description: 'What the cells of this page answer, once each.',
            }),
          }),
        },
      },
      handle: async ({ caller, params, query }) => {
        const run = await compare.read(caller, params.run_id)
        const view = await judging.viewRun(run, voterOf(caller))
        if (query.lane_id !== undefined && view.isHidden())
          throw invalidValue(
            'lane_id',
            'The lanes of a blind run cannot be told apart until you vote on the run.',
          )
        const filter = { laneId: query.lane_id, promptIndex: query.prompt_index, status: query.status }
        const page = { limit: query.limit ?? PAGE_LIMIT_DEFAULT, after: query.after ?? null }
        const { items, total, hasMore, nextCursor } = await compare.listCells(run, filter, page)
        const data = items.map((cell) => toCellAnswer(run, view.present(cell)))
        const prompts = await readPromptAnswers({ compare, judging }, run, { items, view })
        return {
          object: 'list',
          data,
          results: data,
          prompts,
          total,
          has_more: hasMore,
          next_cursor: nextCursor,
        }
      },
    }),
    defineRoute({
      ...shared,
      method: 'GET',
      path: '/v1/compare/runs/:run_id/export',
      summary: 'Export a run as JSON or CSV',
      params: RunParams,
      query: ExportQuery,
      responses: {
        200: {
          description: 'Everything of the run; as CSV one row a cell.',
          schema: ExportAnswer,
          otherTypes: { 'text/csv': Type.String({ description: 'One row a cell, after a row of names.' }) },
        },
      },
      handle: async ({ caller, params, query, headers, reply, exchange }) => {
        const run = await compare.read(caller, params.run_id)
        const view = await judging.viewRun(run, voterOf(caller))
        const judged = await readJudged(judging, caller, run, view)
        const format = query.format ?? (isCsvAsked(headers['accept']) ? 'csv' : 'json')
        const parts = presentParts(compare.streamCells(run), view)
        const file = { run, view, judged, parts, format, cancellation: exchange.cancellation }
        await sendExport(reply, file, (error) => onBroken(error, exchange.id))
      },
    }),
    ...changeRoutes({ compare, judging }),
  ]
}

/** Returns the beginning of each prompt, and what the judge said about its answers if the lanes may be told apart. */
async function readPromptAnswers(
  { compare, judging }: { compare: Compare; judging: Pick<Judging, 'readJudgements'> },
  run: Run,
  { items, view }: { items: readonly Cell[]; view: BlindView },
): Promise<Record<string, unknown>[]> {
  const prompts = await compare.readPrompts(run, items)
  const shown = prompts.map(({ promptIndex }) => promptIndex).filter((index) => !view.isHidden(index))
  const judgements = run.judge === null ? [] : await judging.readJudgements(run.id, shown)
  const ofPrompts = Map.groupBy(judgements, ({ promptIndex }) => promptIndex)
  return prompts.map((prompt) => toPromptAnswer(prompt, ofPrompts.get(prompt.promptIndex) ?? []))
}

const FIRST_ANSWERS = 10
/** Limit for each lane. Runs are read often, and the rest of the answers is available as results. */
const FIRST_ANSWERS_CHARACTERS = 100_000

/** Returns the first answers of each lane of a finished run. Returns none while a blind run hides its lanes. */
async function readFirstAnswers(compare: Compare, run: Run, view: BlindView): Promise<LaneAnswers> {
  const answers = new Map<string, FirstAnswers>()
  if (run.completedAt === null || view.isHidden()) return answers
  const page = { limit: FIRST_ANSWERS, after: null, charactersMax: FIRST_ANSWERS_CHARACTERS }
  for (const { id } of run.lanes) {
    const { items, total, hasMore, nextCursor } = await compare.listCells(run, { laneId: id }, page)
    answers.set(id, { cells: items.map((cell) => view.present(cell)), total, hasMore, nextCursor })
  }
  return answers
}

interface ChangeRouteOptions {
  readonly compare: Compare
  readonly judging: Pick<Judging, 'viewRun'>
}

function changeRoutes({ compare, judging }: ChangeRouteOptions): Route[] {
  const toAnswer = async (run: Run, caller: Caller) =>
    toRunAnswer(run, await judging.viewRun(run, voterOf(caller)))
  const shared = {
    method: 'POST',
    tag: 'Compare',
    access: inProject('models.use', 'compare.manage'),
    params: RunParams,
  } as const
  return [
    defineRoute({
      ...shared,
      path: '/v1/compare/runs/:run_id/cancel',
      summary: 'Cancel a run',
      responses: { 200: { description: 'What is done stays.', schema: RunAnswer } },
      handle: async ({ caller, params }) => toAnswer(await compare.cancel(caller, params.run_id), caller),
    }),
    defineRoute({
      ...shared,
      path: '/v1/compare/runs/:run_id/resume',
      summary: 'Go on with a run',
      isChargedByCall: true,
      body: ResumeBody,
      responses: { 200: { description: 'Asks only what failed or was never asked.', schema: RunAnswer } },
      handle: async ({ caller, params, body }) => {
        const budget = body.budget_usd
        const changes = typeof budget === 'number' ? { budgetNanoUsd: parseUsd('budget_usd', budget) } : {}
        return toAnswer(await compare.resume(caller, params.run_id, changes), caller)
      },
    }),
    defineRoute({
      ...shared,
      path: '/v1/compare/runs/:run_id/save',
      summary: 'Keep a run',
      responses: { 200: { description: 'It is not removed when it is old.', schema: RunAnswer } },
      handle: async ({ caller, params }) => toAnswer(await compare.pin(caller, params.run_id), caller),
    }),
  ]
}

/** What a judge has done, and which lane to take: only once the run has ended, and never while its lanes are hidden. */
async function readJudged(
  judging: Pick<Judging, 'readProgress' | 'decideRun'>,
  caller: Parameters<Judging['decideRun']>[0],
  run: Run,
  view: BlindView,
): Promise<Pick<RunDetails, 'judging' | 'decision'>> {
  const isDecided = run.completedAt !== null && !view.isHidden()
  return {
    judging: await judging.readProgress(run),
    decision: isDecided ? await judging.decideRun(caller, run) : null,
  }
}
