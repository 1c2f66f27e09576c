import { lookupTable } from '../../kernel/lookup-table.ts'
import type { StreamWriter, Wire, WireError } from '../wire.ts'

export const SCIM_TYPE = 'application/scim+json'
const JSON_TYPE = 'application/json'

export const SCIM_ERROR_URN = 'urn:ietf:params:scim:api:messages:2.0:Error'

const SCIM_TYPES = lookupTable<string>({
  invalid_json: 'invalidSyntax',
  invalid_request: 'invalidSyntax',
  invalid_value: 'invalidValue',
  missing_required_parameter: 'invalidValue',
})

function formatError({ status, code, message, details }: WireError): object {
  const scimType = details?.['scimType'] ?? SCIM_TYPES[code]
  return {
    schemas: [SCIM_ERROR_URN],
    status: String(status),
    ...(scimType === undefined ? {} : { scimType }),
    detail: message,
  }
}

const NOTHING = Buffer.alloc(0)
/** No answer of SCIM is a stream. */
const NO_STREAM: StreamWriter = { write: () => NOTHING, end: () => NOTHING, fail: () => '' }

/** The protocol by which directories write people and groups, RFC 7644. */
export const scimWire: Wire = {
  id: 'scim',
  formatError,
  contentTypeFor: (accept = '') =>
    accept.includes(JSON_TYPE) && !accept.includes(SCIM_TYPE) ? JSON_TYPE : SCIM_TYPE,
  keepAlive: NOTHING,
  isWholeStream: () => true,
  openStream: () => NO_STREAM,
}
