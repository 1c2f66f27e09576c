import { Type, type Static, type TSchema } from 'typebox'
import { Value } from 'typebox/value'
import { INSTANCE_LABEL, isInstanceId } from './object-names.ts'

const Time = Type.Optional(Type.Union([Type.String(), Type.Null()]))
const Text = Type.Optional(Type.String())
const Texts = Type.Optional(Type.Record(Type.String(), Type.String()))

const Metadata = Type.Object({
  name: Type.String(),
  uid: Type.String(),
  resourceVersion: Type.String(),
  generation: Type.Optional(Type.Integer()),
  creationTimestamp: Time,
  deletionTimestamp: Time,
  labels: Texts,
  annotations: Texts,
})

const Conditions = Type.Optional(
  Type.Array(
    Type.Object({
      type: Type.String(),
      status: Type.String(),
      reason: Text,
      message: Text,
      lastTransitionTime: Time,
    }),
  ),
)

const ContainerState = Type.Optional(
  Type.Object({
    waiting: Type.Optional(Type.Object({ reason: Text, message: Text })),
    running: Type.Optional(Type.Object({})),
    terminated: Type.Optional(
      Type.Object({
        exitCode: Type.Optional(Type.Integer()),
        signal: Type.Optional(Type.Integer()),
        reason: Text,
        message: Text,
      }),
    ),
  }),
)

const ContainerStatus = Type.Object({
  name: Type.String(),
  restartCount: Type.Optional(Type.Integer()),
  state: ContainerState,
  lastState: ContainerState,
})

const Deployment = Type.Object({
  metadata: Metadata,
  spec: Type.Object({ replicas: Type.Optional(Type.Integer()) }),
  status: Type.Optional(
    Type.Object({
      observedGeneration: Type.Optional(Type.Integer()),
      replicas: Type.Optional(Type.Integer()),
      conditions: Conditions,
    }),
  ),
})

const Pod = Type.Object({
  metadata: Metadata,
  status: Type.Optional(
    Type.Object({
      phase: Text,
      reason: Text,
      message: Text,
      conditions: Conditions,
      containerStatuses: Type.Optional(Type.Array(ContainerStatus)),
    }),
  ),
})

/** The fields of a Deployment and of a Pod that the driver reads. */
export type ClusterDeployment = Static<typeof Deployment>
export type ClusterPod = Static<typeof Pod>
export type ContainerStatus = Static<typeof ContainerStatus>
export type ClusterObject = ClusterDeployment | ClusterPod

/** These parsers throw if the value is not such an object. */
export const parseDeployment = (value: unknown): ClusterDeployment => parse(Deployment, value)
export const parsePod = (value: unknown): ClusterPod => parse(Pod, value)

function parse<Schema extends TSchema>(schema: Schema, value: unknown): Static<Schema> {
  if (!Value.Check(schema, value)) throw new Error('the cluster answered with something else than asked for')
  return value
}

/** Returns the id of the instance that an object belongs to, or null. */
export function instanceOf({ metadata }: ClusterObject): string | null {
  const id = metadata.labels?.[INSTANCE_LABEL]
  return id !== undefined && isInstanceId(id) ? id : null
}

export function conditionOf({ status }: ClusterObject, type: string) {
  return status?.conditions?.find((condition) => condition.type === type)
}

/** Returns milliseconds since the epoch, or null for a missing or invalid time. */
export function toMs(time: string | null | undefined): number | null {
  const ms = Date.parse(time ?? '')
  return Number.isNaN(ms) ? null : ms
}
