import { Type } from 'typebox'
import type { Deprecations } from '../../../modules/deprecations/deprecations.ts'
import { readerOf } from '../../../modules/keys/keys.ts'
import { objectName } from '../../../wires/usual-members.ts'
import { ANY_KEY } from '../../access.ts'
import { listSchema, wholeList } from '../../answers/list-page.ts'
import { defineRoute, type Route } from '../../route.ts'
import {
  DeprecationQuery,
  endingFields,
  endingToWire,
  keyUseFields,
  keyUseToWire,
  readDeprecationQuery,
  useFields,
  useToWire,
} from '../offer/deprecation-wire.ts'

/** Of one model. `keys_count` says how many there are. */
const KEYS_MAX = 50

const Answer = Type.Object(
  {
    object: objectName('deprecation'),
    ...endingFields,
    ...useFields,
    keys: Type.Array(Type.Object(keyUseFields), {
      description: `The keys that used it, those with the most requests first, at most ${KEYS_MAX}.`,
    }),
  },
  { title: 'UsedDeprecation' },
)

/** Models that end and that keys of the caller still use. */
export const deprecationRoutes = ({ deprecations }: { deprecations: Deprecations }): Route[] => [
  defineRoute({
    method: 'GET',
    tag: 'Usage',
    access: ANY_KEY,
    path: '/v1/deprecations',
    summary: 'List models that end, and which keys still use them',
    query: Type.Object(DeprecationQuery),
    responses: {
      200: {
        description: 'Only models that were used, the next one to end first.',
        schema: listSchema('models', Answer),
      },
    },
    handle: async ({ caller, query }) => {
      const found = await deprecations.listUsedWithKeys(readerOf(caller, 'usage.read'), {
        ...readDeprecationQuery(query),
        keysMax: KEYS_MAX,
      })
      return wholeList(
        'models',
        found.map((one) => ({
          object: 'deprecation',
          ...endingToWire(one),
          ...useToWire(one.use),
          keys: one.keys.map(keyUseToWire),
        })),
      )
    },
  }),
]
