import { batches } from './scenarios/batches.ts'
import { budgets } from './scenarios/budgets.ts'
import { clientProxy } from './scenarios/client-proxy.ts'
import { commandLine } from './scenarios/command-line.ts'
import { browserConsole } from './scenarios/console.ts'
import { credit } from './scenarios/credit.ts'
import { deployments } from './scenarios/deployments.ts'
import { embeddings } from './scenarios/embeddings.ts'
import { fairness } from './scenarios/fairness.ts'
import { files } from './scenarios/files.ts'
import { media } from './scenarios/media.ts'
import { overload } from './scenarios/overload.ts'
import { requests } from './scenarios/requests.ts'
import type { Scenario } from './scenarios/scenario.ts'
import { streamCosts } from './scenarios/stream-costs.ts'
import { streams } from './scenarios/streams.ts'
import { tasks } from './scenarios/tasks.ts'
import { wires } from './scenarios/wires.ts'

/** The scenarios of a run without flags, in this order. */
export const scenarios: readonly Scenario[] = [
  requests,
  streams,
  streamCosts,
  wires,
  embeddings,
  tasks,
  media,
  credit,
]

/** Scenarios that run only when they are named: they take long, or concern the client. */
export const furtherScenarios: readonly Scenario[] = [
  deployments,
  commandLine,
  clientProxy,
  browserConsole,
  fairness,
  budgets,
  batches,
  files,
  overload,
]
