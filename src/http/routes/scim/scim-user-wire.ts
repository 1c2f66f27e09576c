import { Type } from 'typebox'
import { toTimestamp } from '../../../kernel/clock.ts'
import type { ScimUser } from '../../../modules/scim/scim.ts'
import { Id } from '../../../wires/usual-members.ts'
import type { Resource } from './scim-route.ts'

export const USER_URN = 'urn:ietf:params:scim:schemas:core:2.0:User'

export const Schemas = Type.Array(Type.String(), { description: 'The URNs of the schemas of the resource.' })

export const Meta = Type.Object(
  {
    resourceType: Type.String({ description: 'What kind of resource this is.' }),
    created: Type.String({ format: 'date-time', description: 'When it was made.' }),
    lastModified: Type.String({ format: 'date-time', description: 'When it last changed.' }),
    location: Type.String({ description: 'Its URL.' }),
    version: Type.String({ description: 'Its version, as in the header `ETag`. Send it as `If-Match`.' }),
  },
  { description: 'What the gateway says of the resource.' },
)

const text = (description: string) => Type.Optional(Type.String({ description }))

export const UserAnswer = Type.Object(
  {
    schemas: Schemas,
    id: Id,
    userName: Type.String({ description: 'The unique name of the person in the directory.' }),
    externalId: text('The id of the person in the directory.'),
    displayName: text('What the person is called.'),
    name: Type.Optional(
      Type.Object(
        {
          formatted: text('The whole name.'),
          familyName: text('The family name.'),
          givenName: text('The given name.'),
        },
        { description: 'The parts of the name.' },
      ),
    ),
    emails: Type.Array(
      Type.Object({
        value: Type.String({ description: 'The address.' }),
        type: text('Such as `work`.'),
        display: text('For people.'),
        primary: Type.Optional(Type.Boolean({ description: 'Whether this is the address of the member.' })),
      }),
      { description: 'The addresses of the person.' },
    ),
    active: Type.Boolean({ description: 'Whether keys and sessions of the person work in this account.' }),
    meta: Meta,
  },
  { title: 'ScimUser' },
)

/** Attributes are read by the module, in any case and in the dialects of directories. */
export const UserBody = Type.Object(
  {
    schemas: Type.Optional(Type.Unknown({ description: 'The URNs of the schemas. Not checked.' })),
    userName: Type.Optional(Type.Unknown({ description: 'The unique name of the person in the directory.' })),
    externalId: Type.Optional(Type.Unknown({ description: 'The id of the person in the directory.' })),
    displayName: Type.Optional(Type.Unknown({ description: 'What the person is called.' })),
    name: Type.Optional(Type.Unknown({ description: 'With `formatted`, `givenName` and `familyName`.' })),
    emails: Type.Optional(
      Type.Unknown({
        description: 'Addresses with `value`, `type` and `primary`.',
      }),
    ),
    active: Type.Optional(
      Type.Unknown({ description: 'A boolean, or the text `True` or `False`. True unless told.' }),
    ),
  },
  {
    examples: [
      {
        schemas: [USER_URN],
        userName: 'grace@example.com',
        externalId: '00u1a2b3c4',
        name: { givenName: 'Grace', familyName: 'Hopper' },
        emails: [{ value: 'grace@example.com', type: 'work', primary: true }],
        active: true,
      },
    ],
  },
)

export function versionOf({ version }: { readonly version: number }): string {
  return `W/"${version}"`
}

export function userToWire(user: ScimUser, baseUrl: string): Resource {
  return {
    schemas: [USER_URN],
    id: user.id,
    ...(user.externalId !== null && { externalId: user.externalId }),
    userName: user.userName,
    ...(user.displayName !== null && { displayName: user.displayName }),
    ...(user.name !== null && { name: user.name }),
    emails: user.emails,
    active: user.active,
    meta: {
      resourceType: 'User',
      created: toTimestamp(user.createdAtMs),
      lastModified: toTimestamp(user.updatedAtMs),
      location: `${baseUrl}/Users/${user.id}`,
      version: versionOf(user),
    },
  }
}
