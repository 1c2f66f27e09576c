import { Type } from 'typebox'
import { AppError } from '../../../kernel/app-error.ts'
import type { Clock } from '../../../kernel/clock.ts'
import type { Audit } from '../../../modules/audit/audit.ts'
import type { Offer } from '../../../modules/offer/offer.ts'
import { objectName } from '../../../wires/usual-members.ts'
import { ofGateway } from '../../access.ts'
import { defineRoute, type Route } from '../../route.ts'
import { ConfigDocument } from './config-document-form.ts'
import { describeOffer, readWanted } from './config-document.ts'
import { Reason } from './model-wire.ts'
import { stringifyInTurns } from './stringify-in-turns.ts'

/** The audit log names this many of the changes. */
const AUDITED_MAX = 200

const EXAMPLE = { parkway: 1, prices: [] } as const

const ApplyBody = Type.Object(
  {
    document: ConfigDocument,
    dry_run: Type.Optional(
      Type.Boolean({ description: 'Only says what would be changed. Nothing is changed.' }),
    ),
    version: Type.Optional(
      Type.String({
        pattern: '^\\d{1,18}$',
        description: 'That of the differences you looked at. If anything was changed since, it answers 409.',
      }),
    ),
    reason: Reason,
  },
  { additionalProperties: false, examples: [{ document: EXAMPLE, dry_run: true }] },
)
const Change = Type.Object({
  kind: Type.Enum(['provider', 'model', 'price'], { description: 'What it is.' }),
  action: Type.Enum(['create', 'change', 'delete'], { description: 'What happens to it.' }),
  name: Type.String({ description: 'The name of the provider, or the id of the model.' }),
  difference: Type.Record(Type.String(), Type.Unknown(), {
    description: 'What differs, without secrets: each member with `from` and `to`.',
  }),
})
const ApplyAnswer = Type.Object(
  {
    object: objectName('config.applied'),
    version: Type.String({
      description: 'The version of what is offered: after the changes, or the one that was compared.',
    }),
    is_applied: Type.Boolean({ description: 'Whether the changes were made. Every process uses them then.' }),
    changes: Type.Array(Change, {
      description: 'In the order in which they are made. Empty: nothing differs.',
    }),
  },
  { title: 'ConfigApplied' },
)

interface ConfigRouteOptions {
  readonly offer: Pick<Offer, 'readAll' | 'planConfiguration' | 'models'>
  readonly audit: Audit
  readonly clock: Clock
}

/** Everything that operators change over the API, as one document. */
export const adminConfigRoutes = ({ offer, audit, clock }: ConfigRouteOptions): Route[] => [
  defineRoute({
    tag: 'Operator',
    access: ofGateway('gateway.manage'),
    method: 'GET',
    path: '/v1/admin/config/export',
    summary: 'Export providers, models and prices',
    responses: {
      200: {
        description: 'A YAML document without secrets.',
        contentType: 'application/yaml',
        schema: Type.String(),
      },
    },
    handle: async ({ reply }) => {
      const described = describeOffer(await offer.readAll(), {
        nowMs: clock.nowMs(),
        fileEntryOf: (id) => offer.models.fileEntryOf(id),
      })
      const text = await stringifyInTurns(described)
      reply.header('content-type', 'application/yaml; charset=utf-8')
      reply.header('content-disposition', 'attachment; filename="parkway.yaml"')
      return text
    },
  }),
  defineRoute({
    tag: 'Operator',
    access: ofGateway('gateway.manage'),
    method: 'POST',
    path: '/v1/admin/config/apply',
    summary: 'Make providers, models and prices those of a document',
    body: ApplyBody,
    otherErrors: [404, 409],
    responses: { 200: { description: 'What was changed, all together or nothing.', schema: ApplyAnswer } },
    handle: async ({ caller, body }) => {
      const { document, dry_run: isDryRun = false, version, reason = null } = body
      const plan = await offer.planConfiguration(readWanted(document), { authorKeyId: caller.keyId, reason })
      if (version !== undefined && version !== String(plan.version))
        throw new AppError('conflict', 'Something was changed meanwhile. Look at the differences again.')
      const changes = plan.steps.map(({ kind, action, name, change }) => ({
        kind,
        action,
        name,
        difference: change.difference,
      }))
      if (isDryRun || changes.length === 0)
        return { object: 'config.applied', version: String(plan.version), is_applied: false, changes }
      const made = await audit.run(
        {
          actor: caller,
          action: 'config.apply',
          target: { kind: 'gateway', id: 'offer' },
          details: {
            changes: changes.slice(0, AUDITED_MAX),
            count: changes.length,
            ...(reason === null ? {} : { reason }),
          },
        },
        async () => ({ id: 'offer', version: await plan.make() }),
      )
      return { object: 'config.applied', version: String(made.version), is_applied: true, changes }
    },
  }),
]
