import { credit } from './scenarios/credit.ts'
import { deployments } from './scenarios/deployments.ts'
import { embeddings } from './scenarios/embeddings.ts'
import { media } from './scenarios/media.ts'
import { requests } from './scenarios/requests.ts'
import type { Scenario } from './scenarios/scenario.ts'
import { streams } from './scenarios/streams.ts'
import { tasks } from './scenarios/tasks.ts'
import { wires } from './scenarios/wires.ts'

/** The scenarios of a run without flags, in this order. */
export const scenarios: readonly Scenario[] = [requests, streams, wires, embeddings, tasks, media, credit]

/** Those that take long and run only when they are named. */
export const furtherScenarios: readonly Scenario[] = [deployments]
