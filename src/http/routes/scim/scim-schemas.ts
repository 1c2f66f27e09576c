import { GROUP_URN } from './scim-groups.ts'
import { USER_URN } from './scim-user-wire.ts'

interface Attribute {
  readonly name: string
  readonly description: string
  readonly type?: 'string' | 'boolean' | 'complex' | 'reference'
  readonly multiValued?: boolean
  readonly required?: boolean
  readonly caseExact?: boolean
  readonly mutability?: 'readWrite' | 'readOnly' | 'immutable'
  readonly returned?: 'always' | 'default'
  readonly uniqueness?: 'none' | 'server'
  readonly subAttributes?: readonly Attribute[]
}

const SCHEMA_URN = 'urn:ietf:params:scim:schemas:core:2.0:Schema'

const USER: readonly Attribute[] = [
  { name: 'userName', description: 'The unique name of the person.', required: true, uniqueness: 'server' },
  { name: 'displayName', description: 'What the person is called.' },
  {
    name: 'name',
    description: 'The parts of the name.',
    type: 'complex',
    subAttributes: [
      { name: 'formatted', description: 'The whole name.' },
      { name: 'familyName', description: 'The family name.' },
      { name: 'givenName', description: 'The given name.' },
    ],
  },
  {
    name: 'emails',
    description: 'The addresses. The primary one is that of the member.',
    type: 'complex',
    multiValued: true,
    subAttributes: [
      { name: 'value', description: 'The address.' },
      { name: 'display', description: 'For people.' },
      { name: 'type', description: 'Such as work.' },
      { name: 'primary', description: 'Whether this is the address of the member.', type: 'boolean' },
    ],
  },
  {
    name: 'active',
    description: 'Whether keys and sessions of the person work.',
    type: 'boolean',
    required: true,
  },
]

// A member has no `$ref`, which is optional: readers of the OpenAPI document take a member of that name for a reference.
const GROUP: readonly Attribute[] = [
  { name: 'displayName', description: 'The name of the group.', required: true, uniqueness: 'server' },
  {
    name: 'members',
    description: 'The people in the group.',
    type: 'complex',
    multiValued: true,
    subAttributes: [
      { name: 'value', description: 'The id of the person.', mutability: 'immutable', caseExact: true },
      { name: 'type', description: 'Always User.', mutability: 'readOnly' },
      { name: 'display', description: 'What the person is called.', mutability: 'readOnly' },
    ],
  },
]

export function schemasOf(baseUrl: string) {
  return [
    schema(baseUrl, {
      id: USER_URN,
      name: 'User',
      description: 'A person of the account.',
      attributes: USER,
    }),
    schema(baseUrl, { id: GROUP_URN, name: 'Group', description: 'A group of people.', attributes: GROUP }),
  ]
}

interface DescribedSchema {
  readonly id: string
  readonly name: string
  readonly description: string
  readonly attributes: readonly Attribute[]
}

function schema(baseUrl: string, { id, name, description, attributes }: DescribedSchema) {
  return {
    schemas: [SCHEMA_URN],
    id,
    name,
    description,
    attributes: attributes.map(describeAttribute),
    meta: { resourceType: 'Schema', location: `${baseUrl}/Schemas/${id}` },
  }
}

/** All characteristics of RFC 7643, with their defaults. */
function describeAttribute({ subAttributes, type = 'string', ...given }: Attribute): Record<string, unknown> {
  const isText = type === 'string' || type === 'reference'
  return {
    type,
    multiValued: false,
    required: false,
    ...(isText && { caseExact: false, uniqueness: 'none' }),
    mutability: 'readWrite',
    returned: 'default',
    ...given,
    ...(subAttributes !== undefined && { subAttributes: subAttributes.map(describeAttribute) }),
  }
}
