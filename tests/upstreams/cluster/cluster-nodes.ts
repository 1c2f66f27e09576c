import { isRecord } from '../../../src/kernel/is-record.ts'
import { read, write, type ClusterStore, type Json } from './cluster-store.ts'

/** How the engine of a pod ends, by the value of its variable SANDBOX_FAILURE. */
const ENDS: Readonly<Record<string, { state: Json; restarts: number; lastState?: Json; log?: string }>> = {
  out_of_memory: {
    state: { waiting: { reason: 'CrashLoopBackOff' } },
    lastState: { terminated: { exitCode: 137, reason: 'OOMKilled' } },
    restarts: 1,
  },
  image_pull_failed: { state: { waiting: { reason: 'ImagePullBackOff' } }, restarts: 0 },
  engine_crashed: {
    state: { waiting: { reason: 'CrashLoopBackOff' } },
    lastState: { terminated: { exitCode: 1, reason: 'Error', message: 'Segmentation fault' } },
    restarts: 3,
    log: 'Segmentation fault',
  },
  model_gated: {
    state: { waiting: { reason: 'CrashLoopBackOff' } },
    lastState: {
      terminated: { exitCode: 1, reason: 'Error', message: 'RuntimeError: See root cause above.' },
    },
    restarts: 1,
    log: 'GatedRepoError: 401\nRuntimeError: See root cause above.',
  },
  model_unsupported: {
    state: {
      terminated: { exitCode: 1, reason: 'Error', message: "Model architectures ['X'] are not supported" },
    },
    restarts: 0,
  },
}

/** Simulates the controllers, the scheduler and the nodes of a cluster. They act only when `tick` or `settle` is called. */
export class ClusterNodes {
  readonly #store: ClusterStore
  readonly #machines: number
  readonly logs = new Map<string, string[]>()
  #pods = 0
  /** Whether no further pod gets a machine, as if all nodes were cordoned. */
  isCordoned = false
  /** Whether the engines of pods do not start, as if a volume could not be mounted. */
  isStuck = false

  constructor(store: ClusterStore, machines: number) {
    this.#store = store
    this.#machines = machines
  }

  /** Moves all pods and deployments by one step. Returns whether anything changed. */
  tick(): boolean {
    const before = this.#store.version
    for (const pod of this.#store.list('pods')) this.#movePod(pod)
    for (const deployment of this.#store.list('deployments')) this.#scale(deployment)
    return this.#store.version !== before
  }

  settle(): void {
    for (let ticks = 0; this.tick(); ticks += 1)
      if (ticks > 1_000) throw new Error('the cluster does not settle')
  }

  /** Simulates a crash of a running engine. */
  crash(name: string, ended: Json): void {
    this.#store.update('pods', name, (pod) => {
      write(pod, ['status', 'conditions'], [BOUND(), { type: 'Ready', status: 'False' }])
      const status = {
        name: 'engine',
        restartCount: 1,
        state: { running: {} },
        lastState: { terminated: ended },
      }
      write(pod, ['status', 'containerStatuses'], [status])
    })
  }

  /** Evicts a pod, like a node that is short of memory. The object of the pod stays. */
  evict(name: string): void {
    this.#store.update('pods', name, (pod) => {
      write(pod, ['status', 'phase'], 'Failed')
      write(pod, ['status', 'reason'], 'Evicted')
    })
  }

  #scale(deployment: Json): void {
    const name = String(read(deployment, 'metadata', 'name'))
    const wanted = Number(read(deployment, 'spec', 'replicas'))
    const pods = this.#store.list('pods').filter((pod) => isOf(pod, deployment))
    const live = pods.filter(
      (pod) => read(pod, 'metadata', 'deletionTimestamp') === undefined && !hasEnded(pod),
    )
    if (live.length < wanted) this.#createPod(deployment)
    for (const pod of live.slice(wanted))
      this.#store.update('pods', nameOf(pod), (value) =>
        write(value, ['metadata', 'deletionTimestamp'], new Date().toISOString()),
      )
    this.#store.update('deployments', name, (value) => {
      write(value, ['status', 'observedGeneration'], read(value, 'metadata', 'generation'))
      write(value, ['status', 'replicas'], Math.min(live.length, wanted))
    })
  }

  #createPod(deployment: Json): void {
    this.#pods += 1
    const name = `${String(read(deployment, 'metadata', 'name'))}-${this.#pods}`
    const template = read(deployment, 'spec', 'template')
    this.logs.set(name, ['the engine starts', 'it loads'])
    this.#store.create('pods', name, {
      ...(isRecord(template) ? structuredClone(template) : {}),
      status: { phase: 'Pending' },
    })
  }

  #movePod(pod: Json): void {
    const name = nameOf(pod)
    if (read(pod, 'metadata', 'deletionTimestamp') !== undefined) {
      this.#store.delete('pods', name)
      return
    }
    if (hasEnded(pod)) return
    if (!isBound(pod)) {
      const taken = this.#store.list('pods').filter((other) => isBound(other) && !hasEnded(other)).length
      const condition = taken < this.#machines && !this.isCordoned ? BOUND() : UNSCHEDULABLE()
      if (read(conditionsOf(pod)[0], 'status') !== condition.status)
        this.#store.update('pods', name, (value) => write(value, ['status', 'conditions'], [condition]))
      return
    }
    if (read(pod, 'status', 'containerStatuses') === undefined && !this.isStuck) this.#startEngine(name, pod)
  }

  #startEngine(name: string, pod: Json): void {
    const end = ENDS[variableOf(pod, 'SANDBOX_FAILURE') ?? '']
    if (end?.log !== undefined) this.logs.set(name, end.log.split('\n'))
    const status = {
      name: 'engine',
      restartCount: end?.restarts ?? 0,
      state: end?.state ?? { running: { startedAt: new Date().toISOString() } },
      ...(end?.lastState && { lastState: end.lastState }),
    }
    this.#store.update('pods', name, (value) => {
      write(value, ['status', 'phase'], 'Running')
      write(value, ['status', 'containerStatuses'], [status])
      const ready = { type: 'Ready', status: end === undefined ? 'True' : 'False' }
      write(value, ['status', 'conditions'], [...conditionsOf(value), ready])
    })
  }
}

const BOUND = () => ({ type: 'PodScheduled', status: 'True', lastTransitionTime: new Date().toISOString() })
const UNSCHEDULABLE = () => ({
  type: 'PodScheduled',
  status: 'False',
  reason: 'Unschedulable',
  message: '0/2 nodes are available: 2 Insufficient nvidia.com/gpu.',
  lastTransitionTime: new Date().toISOString(),
})

function nameOf(object: Json): string {
  return String(read(object, 'metadata', 'name'))
}

const INSTANCE = 'gateway.parkway/instance'

function isOf(pod: Json, deployment: Json): boolean {
  const instance = read(deployment, 'spec', 'selector', 'matchLabels', INSTANCE)
  return read(pod, 'metadata', 'labels', INSTANCE) === instance
}

function conditionsOf(pod: Json): unknown[] {
  const conditions = read(pod, 'status', 'conditions')
  return Array.isArray(conditions) ? conditions : []
}

function hasEnded(pod: Json): boolean {
  return read(pod, 'status', 'phase') === 'Failed'
}

function isBound(pod: Json): boolean {
  const [scheduled] = conditionsOf(pod)
  return read(scheduled, 'status') === 'True'
}

function variableOf(pod: Json, name: string): string | undefined {
  const containers = read(pod, 'spec', 'containers')
  const variables = Array.isArray(containers) ? read(containers[0], 'env') : []
  return Array.isArray(variables) ? variables.find((variable) => variable.name === name)?.value : undefined
}
