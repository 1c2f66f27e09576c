import { Type, type Static } from 'typebox'
import { PriceList } from '../../../modules/catalog/catalog.ts'
import { orNull } from '../../../wires/nullable.ts'
import { ModelId } from '../../../wires/usual-members.ts'
import { KeyLimitMembers } from '../operator/key-limit-forms.ts'
import { ProviderCreateBody } from '../operator/provider-forms.ts'
import { Costs, ModelCreateBody } from './model-wire.ts'

const {
  api_key: _key,
  api_keys: _keys,
  secret_ref: _ref,
  headers: _headers,
  proxy: _proxy,
  ...ofProvider
} = ProviderCreateBody.properties
const { reason: _reason, ...ofModel } = ModelCreateBody.properties

const CredentialDocument = Type.Object(
  {
    secret_ref: Type.Optional(
      Type.String({ minLength: 1, maxLength: 1024, description: 'Where the key is read.' }),
    ),
    last_four: Type.Optional(
      orNull(
        Type.String({ maxLength: 4 }),
        'A key that is stored in this gateway, by its last four characters. It is in no file.',
      ),
    ),
    weight: Type.Optional(
      Type.Integer({ minimum: 1, maximum: 1_000, description: 'Its share of the requests.' }),
    ),
    ...KeyLimitMembers,
  },
  { additionalProperties: false },
)

const ProxyDocument = Type.Object(
  {
    url: Type.String({ minLength: 1, maxLength: 500, description: 'Its address.' }),
    username: Type.Optional(
      Type.String({ minLength: 1, maxLength: 256, description: 'Who signs in to it.' }),
    ),
    password_ref: Type.Optional(
      Type.String({ minLength: 1, maxLength: 1024, description: 'Where the password is read.' }),
    ),
    has_password: Type.Optional(
      Type.Literal(true, { description: 'A password that is stored in this gateway. It is in no file.' }),
    ),
  },
  { additionalProperties: false, description: 'The proxy through which all its hosts are reached.' },
)

const ProviderDocument = Type.Object(
  {
    ...ofProvider,
    credentials: Type.Optional(Type.Array(CredentialDocument, { maxItems: 50, description: 'Its keys.' })),
    proxy: Type.Optional(ProxyDocument),
    header_names: Type.Optional(
      Type.Array(Type.String({ maxLength: 64 }), {
        maxItems: 50,
        description: 'Its further headers. Their values may be secrets, so that they are in no file.',
      }),
    ),
  },
  { additionalProperties: false },
)

const ModelDocument = Type.Object(ofModel, { additionalProperties: false })

const PriceDocument = Type.Object(
  {
    model: ModelId,
    price: Type.Optional(PriceList),
    costs: Type.Optional(Costs),
    effective_from: Type.Optional(
      Type.String({
        format: 'date-time',
        description: 'Of a price of the future. Without it, the price of now.',
      }),
    ),
  },
  { additionalProperties: false },
)

/** Everything that operators can change while the gateway runs, without secrets. */
export const ConfigDocument = Type.Object(
  {
    parkway: Type.Literal(1, { description: 'The form of this document.' }),
    providers: Type.Optional(
      Type.Array(ProviderDocument, {
        maxItems: 500,
        description: 'All providers that were added over the API. Absent: they stay as they are.',
      }),
    ),
    models: Type.Optional(
      Type.Array(ModelDocument, {
        maxItems: 2_000,
        description: 'All models that were added over the API. Absent: they stay as they are.',
      }),
    ),
    prices: Type.Optional(
      Type.Array(PriceDocument, {
        maxItems: 5_000,
        description:
          'Prices of now that models of the catalog file got over the API, and prices of the future. A model of the file that is named without a price has the price of the file with these costs, and one that is not named has the price and the costs of the file. Absent: they stay as they are.',
      }),
    ),
  },
  {
    additionalProperties: false,
    title: 'ConfigDocument',
    description: 'Everything that operators add over the API, without secrets.',
  },
)

export type ConfigDocument = Static<typeof ConfigDocument>
export type ProviderDocument = Static<typeof ProviderDocument>
export type ProxyDocument = Static<typeof ProxyDocument>
export type CredentialDocument = Static<typeof CredentialDocument>
export type ModelDocument = Static<typeof ModelDocument>
