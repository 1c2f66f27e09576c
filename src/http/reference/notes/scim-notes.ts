/** Descriptions of what directories write, and of their tokens. */
export const SCIM_NOTES: Readonly<Record<string, string>> = {
  'GET /v1/organization/scim_tokens': 'Lists the SCIM tokens of the account, newest first.',
  'POST /v1/organization/scim_tokens':
    'Makes a token with which a directory writes the people and groups of this account. Whoever makes one can give every role, because groups can: an owner, or a key of the account itself.',
  'GET /v1/organization/scim_tokens/{token_id}': 'Returns one SCIM token without its secret.',
  'DELETE /v1/organization/scim_tokens/{token_id}':
    'Ends a SCIM token. The people and groups that the directory made stay as they are.',
  'GET /v1/organization/scim':
    'Returns how the synchronisation with a directory goes: how many people and groups it manages, and which of its last writes were refused.',
  'GET /scim/v2/Groups':
    'Lists the groups that the directory manages. Filters have `displayName`, `externalId`, `id` and `members`; `excludedAttributes=members` makes a page of large groups small.',
  'POST /scim/v2/Groups':
    'Makes a group of the account, or takes over the one with this name and the roles and projects that it has.',
  'GET /scim/v2/Groups/{id}': 'Returns one group that the directory manages.',
  'PUT /scim/v2/Groups/{id}': 'Replaces name and members of a group.',
  'PATCH /scim/v2/Groups/{id}':
    'Adds and removes members, or renames a group. One member more or less costs the same in a group of any size.',
  'DELETE /scim/v2/Groups/{id}': 'Deletes a group with its roles and its places in projects.',
  'GET /scim/v2/ServiceProviderConfig': 'Returns which parts of SCIM work here.',
  'GET /scim/v2/ResourceTypes': 'Lists the kinds of resources.',
  'GET /scim/v2/ResourceTypes/{id}': 'Returns one kind of resources: `User` or `Group`.',
  'GET /scim/v2/Schemas': 'Lists the attributes of people and groups that are kept.',
  'GET /scim/v2/Schemas/{id}': 'Returns the attributes of one kind of resources.',
  'GET /scim/v2/Users':
    'Lists the people whom the directory manages. Filters have `eq`, `ne`, `co`, `sw`, `ew`, `pr`, `and`, `or` and `not` on `userName`, `externalId`, `id`, `displayName`, `name`, `emails` and `active`.',
  'POST /scim/v2/Users':
    'Makes a person a member of the account with the role `reader`, or takes over a member with this address.',
  'GET /scim/v2/Users/{id}': 'Returns one person whom the directory manages.',
  'PUT /scim/v2/Users/{id}':
    'Replaces what the directory says of a person. Returns when every process has applied it.',
  'PATCH /scim/v2/Users/{id}':
    'Changes a part of what the directory says of a person, in the dialects of Okta and Entra.',
  'DELETE /scim/v2/Users/{id}':
    'Deactivates a person: their keys and sessions in this account end. The member stays for the history.',
}
