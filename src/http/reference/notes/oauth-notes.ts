/** The operations of OAuth, with which tools and programs get access tokens. */
export const OAUTH_NOTES: Readonly<Record<string, string>> = {
  'POST /oauth/token':
    'Takes a form, `application/x-www-form-urlencoded`. A field must not occur twice, unknown fields are ignored, and one without a value counts as absent. ' +
    'Errors are those of RFC 6749 and RFC 8628.',
}
