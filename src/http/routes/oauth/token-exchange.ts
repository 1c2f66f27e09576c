import { AppError } from '../../../kernel/app-error.ts'
import type { Trust } from '../../../modules/trust/trust.ts'
import { requireField, type GrantType } from './token.ts'

export const TOKEN_EXCHANGE = 'urn:ietf:params:oauth:grant-type:token-exchange'

const ACCESS_TOKEN = 'urn:ietf:params:oauth:token-type:access_token'
const SUBJECT_TYPES = ['urn:ietf:params:oauth:token-type:jwt', 'urn:ietf:params:oauth:token-type:id_token']

/** The grant of RFC 8693: a token of a trusted issuer becomes one of a service account. */
export function tokenExchange({ trust }: { readonly trust: Pick<Trust, 'exchange'> }): GrantType {
  return async (request) => {
    const { fields, origin } = request
    const subjectToken = requireField(request, 'subject_token')
    const subjectType = requireField(request, 'subject_token_type')
    const audience = requireField(request, 'audience')
    if (!SUBJECT_TYPES.includes(subjectType))
      throw new AppError('invalid_value', `subject_token_type must be ${SUBJECT_TYPES.join(' or ')}.`, {
        param: 'subject_token_type',
      })
    if ((fields['requested_token_type'] ?? ACCESS_TOKEN) !== ACCESS_TOKEN)
      throw new AppError('invalid_value', `requested_token_type can only be ${ACCESS_TOKEN}.`, {
        param: 'requested_token_type',
      })
    // Nobody acts for another one here. To ignore it would say that it was checked.
    if (fields['actor_token'] !== undefined)
      throw new AppError('unsupported_parameter', 'actor_token is not taken.', { param: 'actor_token' })
    const { token, expiresInSeconds } = await trust.exchange({
      audience,
      subjectToken,
      origin,
    })
    return { accessToken: token, expiresInSeconds, issuedTokenType: ACCESS_TOKEN }
  }
}
