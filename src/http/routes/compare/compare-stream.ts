import { Type } from 'typebox'
import { RUN_STATUSES, type Compare, type Run, type RunEvent } from '../../../modules/compare/compare.ts'
import { voterOf, type BlindView, type Judging } from '../../../modules/judging/judging.ts'
import { partType } from '../../../wires/usual-members.ts'
import { followUntilShutdown } from '../../answers/follow-until-shutdown.ts'
import { sendEventReply } from '../../answers/send-event-reply.ts'
import { inProject } from '../../access.ts'
import { defineRoute, type Route } from '../../route.ts'
import { Uuid } from './compare-cell-wire.ts'

const Cell = {
  prompt_index: Type.Integer({ description: 'The position of the prompt, from 0.' }),
  repeat: Type.Integer({ description: 'Which of the repeats it is, from 0.' }),
  lane_id: Type.String({ ...Uuid, description: 'As in the results: another in each prompt of a blind run.' }),
}

const RunEventAnswer = Type.Union(
  [
    Type.Object({
      type: partType('text'),
      ...Cell,
      offset: Type.Integer({
        description: 'Where the part begins. 0 begins the answer anew: an earlier try of it was given up.',
      }),
      text: Type.String({ description: 'A part of the answer.' }),
    }),
    Type.Object({
      type: partType('cell'),
      ...Cell,
      status: Type.Enum(['completed', 'failed'], { description: 'How it ended. The results have it.' }),
    }),
    Type.Object({
      type: partType('end'),
      status: Type.Enum([...RUN_STATUSES], {
        description: 'Of the run. If it is `running`, a limit of the stream was reached: open another one.',
      }),
    }),
  ],
  { title: 'CompareRunEvent' },
)

interface StreamRouteOptions {
  readonly compare: Pick<Compare, 'read' | 'follow'>
  readonly judging: Pick<Judging, 'viewRun'>
}

export const compareStreamRoutes = ({ compare, judging }: StreamRouteOptions): Route[] => [
  defineRoute({
    tag: 'Compare',
    access: inProject('models.use', 'compare.manage'),
    method: 'GET',
    path: '/v1/compare/runs/:run_id/stream',
    summary: 'Follow the answers of a run while they are written',
    params: Type.Object({ run_id: Type.String({ description: 'The id of a run.' }) }),
    otherErrors: [429],
    responses: {
      200: {
        description: 'Events of this form, the last one of type `end`, then `[DONE]`.',
        schema: RunEventAnswer,
        contentType: 'text/event-stream',
      },
    },
    handle: async ({ caller, params, exchange, reply }) => {
      const run = await compare.read(caller, params.run_id)
      const view = await judging.viewRun(run, voterOf(caller))
      const events = toWire(compare.follow(run, exchange.cancellation), run, view)
      await sendEventReply(reply, followUntilShutdown(events, exchange), exchange)
    },
  }),
]

async function* toWire(
  batches: AsyncIterable<readonly RunEvent[]>,
  run: Run,
  view: BlindView,
): AsyncGenerator<readonly Buffer[], void> {
  for await (const batch of batches)
    yield batch.map((event) => Buffer.from(JSON.stringify(toEventAnswer(event, run, view))))
}

function toEventAnswer(event: RunEvent, { lanes }: Run, view: BlindView): Record<string, unknown> {
  if (event.kind === 'end') return { type: 'end', status: event.status }
  const { promptIndex, repeat, lanePosition } = event.key
  const laneId = lanes.find(({ position }) => position === lanePosition)?.id ?? ''
  const cell = { prompt_index: promptIndex, repeat, lane_id: view.nameLane(promptIndex, laneId) }
  return event.kind === 'cell'
    ? { type: 'cell', ...cell, status: event.status }
    : { type: 'text', ...cell, offset: event.offset, text: event.text }
}
