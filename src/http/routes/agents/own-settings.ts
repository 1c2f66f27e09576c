import { Type } from 'typebox'
import { AppError } from '../../../kernel/app-error.ts'
import type { ManagedSettings } from '../../../modules/managed-settings/managed-settings.ts'
import { messagesWire } from '../../../wires/anthropic-messages/messages-wire.ts'
import { ANY_KEY } from '../../access.ts'
import { defineRoute, type Route } from '../../route.ts'

const ServedSettings = Type.Object(
  {
    uuid: Type.String({ description: 'The same as the checksum: other settings are another policy.' }),
    checksum: Type.String({
      description: '`sha256:` and the hash of the settings as JSON with sorted names.',
    }),
    settings: Type.Record(Type.String(), Type.Unknown(), {
      description: 'The members of `managed-settings.json`. Empty where the policy says nothing.',
    }),
  },
  { title: 'ServedSettings' },
)

/** Agents read the settings of the person who signed in, about once an hour. The path is fixed in Claude Code. */
export const ownSettingsRoutes = ({ managedSettings }: { managedSettings: ManagedSettings }): Route[] => [
  defineRoute({
    method: 'GET',
    path: '/managed/settings',
    wire: messagesWire,
    tag: 'Messages',
    access: ANY_KEY,
    summary: 'Read the managed settings of the caller',
    otherErrors: [404],
    responses: {
      200: {
        description: 'The settings, with their checksum as `ETag`.',
        schema: ServedSettings,
      },
      304: { description: 'They are those that `If-None-Match` names.' },
    },
    handle: async ({ caller, headers, reply }) => {
      const served = await managedSettings.serve(caller)
      if (served === null)
        throw new AppError('not_found', 'There are no managed settings for whoever this key belongs to.')
      const { checksum, settings } = served
      // Other people get others from the same address.
      reply.header('etag', `"${checksum}"`).header('cache-control', 'private, no-cache')
      if (namesTag(headers['if-none-match'], checksum)) {
        void reply.code(304).send()
        return undefined
      }
      return { uuid: checksum, checksum, settings }
    },
  }),
]

/** By the weak comparison, which is the one for this header. */
function namesTag(header: string | string[] | undefined, checksum: string): boolean {
  const tags = [header ?? []].flat().join(',').split(',')
  return tags.some((tag) => {
    const plain = tag.trim().replace(/^W\//, '')
    return plain === '*' || plain === `"${checksum}"` || plain === checksum
  })
}
