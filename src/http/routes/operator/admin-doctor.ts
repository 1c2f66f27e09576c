import { Type, type Static } from 'typebox'
import { toTimestamp } from '../../../kernel/clock.ts'
import { orNull } from '../../../wires/nullable.ts'
import { objectName } from '../../../wires/usual-members.ts'
import { ofGateway } from '../../access.ts'
import { defineRoute, type Route } from '../../route.ts'

const Finding = Type.Object({
  level: Type.Enum(['critical', 'warning', 'info'], {
    description: '`critical` costs answers or money now, `warning` will, `info` is worth knowing.',
  }),
  code: Type.String({ description: 'What it is, for programs: `disk_low`, `partitions_missing` and so on.' }),
  subject: orNull(Type.String(), 'The table, provider or setting. Null for the whole gateway.'),
  message: Type.String({ description: 'What is wrong.' }),
  mend: Type.String({ description: 'How to mend it.' }),
})

const DoctorAnswer = Type.Object({
  object: objectName('list'),
  data: Type.Array(Finding, { description: 'What was found, the most urgent first.' }),
  checked_at: Type.String({ format: 'date-time', description: 'When it was looked at.' }),
})

export interface Examination {
  readonly findings: readonly Static<typeof Finding>[]
  readonly checkedAtMs: number
}

/** What `parkway doctor` says, for operators in the console. */
export function adminDoctorRoutes({ examine }: { examine: () => Promise<Examination> }): Route[] {
  return [
    defineRoute({
      method: 'GET',
      path: '/v1/admin/doctor',
      tag: 'Operator',
      summary: 'Find what is wrong and how to mend it',
      access: ofGateway('gateway.read'),
      responses: { 200: { description: 'What was found.', schema: DoctorAnswer } },
      handle: async ({ reply }) => {
        reply.header('cache-control', 'no-store')
        const { findings, checkedAtMs } = await examine()
        return { object: 'list' as const, data: [...findings], checked_at: toTimestamp(checkedAtMs) }
      },
    }),
  ]
}
