const PROJECT = '/v1/organization/projects/{project_id}'
const GROUP = '/v1/organization/groups/{group_id}'
const SERVICE_ACCOUNTS = `${PROJECT}/service_accounts`

/** Descriptions of the operations on people and projects, by method and path. */
export const ORGANIZATION_NOTES: Readonly<Record<string, string>> = {
  'GET /v1/organization/admin_api_keys':
    'Lists the keys that manage the account, the oldest first. Any key of the account with the scope `manage` is one; keys of projects are not.',
  'POST /v1/organization/admin_api_keys':
    'Makes a key that manages the account and uses no models, and returns its secret, this once. It has at most the rights and limits of the key that asks.',
  'GET /v1/organization/admin_api_keys/{key_id}':
    'Returns one key that manages the account, without its secret.',
  'DELETE /v1/organization/admin_api_keys/{key_id}':
    'Revokes a key that manages the account, on every process of the gateway.',
  'GET /v1/organization/audit_logs':
    'Lists who changed people, projects, keys and limits of the account, and who signed in. The entry of a change is stored with it and is never changed or deleted. What the operator of the gateway did tells nothing about who that is.',
  'GET /v1/organization/costs':
    'Adds up what was charged by day, for each project, key, person, model, tag or line item. Days are whole days of UTC. The sums are those of the ledger, to the nano-dollar.',
  'GET /v1/organization/receipts':
    'Lists the signed receipts of the account. One is made some hours after the end of a day of UTC, and further ones for records that come late. Each names the one before it, so that none can be left out.',
  'GET /v1/organization/receipts/keys':
    'Lists the public keys by which the signatures of receipts are checked, also those that sign no more. They are those of the whole gateway.',
  'GET /v1/organization/receipts/records':
    'Sends the records of a month of UTC as they are in the database now. `parkway verify-bill` compares them with the receipts.',
  'GET /v1/organization/receipts/{receipt_id}/leaves':
    'Sends the id and a hash of each record of a receipt, by which a record that was changed is named. They are kept as long as the records.',
  'GET /v1/organization/usage/completions':
    'Adds up requests and tokens of chat, completions, Messages and Responses. Tokens of audio are not told apart.',
  'GET /v1/organization/usage/embeddings': 'Adds up requests and tokens of embeddings.',
  'GET /v1/organization/usage/moderations': 'Adds up requests of moderation.',
  'GET /v1/organization/usage/images': 'Adds up requests that made or changed images.',
  'GET /v1/organization/usage/audio_speeches': 'Adds up requests that made speech.',
  'GET /v1/organization/usage/audio_transcriptions': 'Adds up requests that transcribed or translated audio.',
  'GET /v1/organization/projects':
    'Lists the projects of the account, newest first. A key of a project gets 403 here and on every route that is not about its project.',
  'POST /v1/organization/projects': 'Makes a project. An account has at most 10,000, archived ones included.',
  [`GET ${PROJECT}`]: 'Returns one project. Another project than that of the key is 404.',
  [`POST ${PROJECT}`]: 'Gives a project another name.',
  [`POST ${PROJECT}/archive`]:
    'Archives a project for good. The answer comes when every process of the gateway refuses its keys; their streams end. `Default` stays.',
  [`GET ${PROJECT}/users`]:
    'Lists the people in a project. Owners of the account reach every project without being in this list.',
  [`POST ${PROJECT}/users`]: 'Adds a member of the account to a project, by id or e-mail address.',
  [`GET ${PROJECT}/users/{user_id}`]: 'Returns one person of a project.',
  [`POST ${PROJECT}/users/{user_id}`]:
    'Changes the role of a person in a project, and so what all their keys in it may do.',
  [`DELETE ${PROJECT}/users/{user_id}`]:
    'Removes a person from a project and revokes their keys in it, on every process.',
  [`GET ${SERVICE_ACCOUNTS}`]: 'Lists the service accounts of a project, newest first.',
  [`POST ${SERVICE_ACCOUNTS}`]:
    'Makes a service account with the role `member` and, unless told otherwise, its first key.',
  [`GET ${SERVICE_ACCOUNTS}/{service_account_id}`]: 'Returns one service account.',
  [`POST ${SERVICE_ACCOUNTS}/{service_account_id}`]: 'Changes the name or the role of a service account.',
  [`DELETE ${SERVICE_ACCOUNTS}/{service_account_id}`]:
    'Deletes a service account and revokes its keys, on every process.',
  [`POST ${SERVICE_ACCOUNTS}/{service_account_id}/api_keys`]:
    'Makes a further key of a service account and returns its secret, this once. It has at most the rights of the key that asks.',
  [`GET ${PROJECT}/model_permissions`]:
    'Returns which models a project may use. Without permissions of its own that is an empty list of what is denied.',
  [`POST ${PROJECT}/model_permissions`]:
    'Sets which models a project may use: only the listed ones, or all but those. An alias means its model, so no other name is a way around. It holds for every key, on every process and for work that is still waiting, when the answer comes. Those of `Default` also limit the keys of the account. Needs a key of the account.',
  [`DELETE ${PROJECT}/model_permissions`]:
    'Lets a project use every model again. Needs a key of the account.',
  'GET /v1/organization/sign_in_policy':
    'Returns in which ways sessions of the account begin: all of them, unless somebody chose. Requests of the API with keys and tokens are not concerned.',
  'POST /v1/organization/sign_in_policy':
    'Chooses the ways. It holds in every process from the next sign-in on; sessions that began in another way end, but for that of the caller. 409 if no owner could sign in any more, unless ' +
    '`even_if_locked_out` is true. A key of the account and the link of the command line (`parkway sign-in-link`) always change it back.',
  'GET /v1/organization/data_retention':
    'Tells whether prompts and answers of the account may be stored. `modified_abuse_monitoring`: nothing is kept to look for abuse, and what somebody asked to store is stored.',
  'POST /v1/organization/data_retention':
    'With `zero_data_retention` stored bodies are deleted and no further ones are stored, also for operators; `store` of responses counts as false, none is made in the background, and answers are not kept for an `Idempotency-Key`. It holds in every process when the answer comes. `modified_abuse_monitoring` ends it; storage of bodies stays off until it is switched on again. Other types are refused, because they mean nothing here.',
  [`GET ${PROJECT}/data_retention`]:
    'Tells whether prompts and answers of a project may be stored. `organization_default`: as for the account.',
  [`POST ${PROJECT}/data_retention`]:
    'With `zero_data_retention` nothing of the project is stored, as for an account. A project can be stricter than its account, not less strict. Those of `Default` also apply to keys of the account. Needs a key of the account.',
  [`GET ${PROJECT}/rate_limits`]:
    'Lists the models that a project may use with its limits for each. A model without limits of the project shows what the tier of the account gives to each key.',
  [`POST ${PROJECT}/rate_limits/{rate_limit_id}`]:
    'Sets limits of a project for one model. They hold exactly for all its keys and processes together, beside the limits of keys and account, whichever name of the model a request uses. Beyond them the answer is 429 with the usual headers. Needs a key of the account.',
  [`GET ${PROJECT}/api_keys`]:
    'Lists the keys of a project with their owners. Keys of the account itself are not among them.',
  [`GET ${PROJECT}/api_keys/{api_key_id}`]: 'Returns one key of a project without its secret.',
  [`DELETE ${PROJECT}/api_keys/{api_key_id}`]: 'Revokes a key of a project on every process of the gateway.',
  [`GET ${PROJECT}/groups`]: 'Lists the groups that have a role in a project.',
  [`POST ${PROJECT}/groups`]:
    'Gives a group of the account a role in a project. Its members have the stronger one of this role and their own.',
  [`GET ${PROJECT}/groups/{group_id}`]: 'Returns one group of a project with its role.',
  [`DELETE ${PROJECT}/groups/{group_id}`]:
    'Removes a group from a project. Keys of members who are in the project by this group only are refused from then on.',
  'GET /v1/organization/groups': 'Lists the groups of the account.',
  'POST /v1/organization/groups': 'Makes a group of people. An account has at most 1,000.',
  [`GET ${GROUP}`]: 'Returns one group.',
  [`POST ${GROUP}`]: 'Gives a group another name.',
  [`DELETE ${GROUP}`]:
    'Deletes a group. Its members stay in the account and lose what they had by the group.',
  [`GET ${GROUP}/users`]: 'Lists the people in a group.',
  [`POST ${GROUP}/users`]: 'Adds a member of the account to a group. A person is in at most 100.',
  [`GET ${GROUP}/users/{user_id}`]: 'Returns one person of a group.',
  [`DELETE ${GROUP}/users/{user_id}`]:
    'Removes a person from a group, and takes from them what they had by it.',
  'GET /v1/organization/users': 'Lists the members of the account.',
  'GET /v1/organization/users/{user_id}':
    'Returns one member of the account. It tells nothing about other accounts of the person.',
  'POST /v1/organization/users/{user_id}': 'Changes the role of a member, and so what all their keys may do.',
  'POST /v1/organization/users/{user_id}/recovery_link':
    'Makes a link that lets a member in once, within a day, who has lost every passkey and key. Whoever opens it is that member, so the caller ' +
    'needs every permission that the member has. `end_passkeys` ends the passkeys, sessions and signed-in tools of before when the link is used.',
  'GET /v1/organization/users/{user_id}/identities':
    'Lists with which accounts of identity providers a member signs in to this account.',
  'DELETE /v1/organization/users/{user_id}/identities/{id}':
    'Removes one, and ends the sessions that began with it. The last way in of the member is kept (409), unless `even_if_last` is true. The provider may make them ' +
    'a member again at their next sign-in, if it makes members.',
  'POST /v1/organization/users/{user_id}/end_sessions':
    'Ends all sessions of a member in this account, within a second also running streams. Their keys go on working.',
  'DELETE /v1/organization/users/{user_id}':
    'Removes a member from the account and its projects. Their keys and sessions in it end on every process; other accounts are not touched.',
  'GET /v1/organization/invites': 'Lists the invitations of the account, newest first.',
  'POST /v1/organization/invites':
    'Invites a person by e-mail address. The link works once, for seven days, and is shown only here: send it to the person.',
  'GET /v1/organization/invites/{invite_id}': 'Returns one invitation without its code.',
  'DELETE /v1/organization/invites/{invite_id}': 'Withdraws an invitation that is not accepted.',
  'GET /v1/organization/roles': 'Lists the roles of the account: those that every account has, and own ones.',
  'POST /v1/organization/roles':
    'Makes a role of the account from permissions. Nobody makes one with a permission that they lack. At most 100.',
  'GET /v1/organization/roles/{role_id}': 'Returns one role of the account.',
  'POST /v1/organization/roles/{role_id}':
    'Changes a role of the account, and so what all who have it may do. Predefined ones stay as they are.',
  'DELETE /v1/organization/roles/{role_id}':
    'Deletes a role of the account and takes it from all who have it.',
  'GET /v1/projects/{project_id}/roles':
    'Lists the roles of a project: those that every project has, and own ones.',
  'POST /v1/projects/{project_id}/roles':
    'Makes a role of a project from permissions. Nobody makes one with a permission that they lack. At most 100.',
  'GET /v1/projects/{project_id}/roles/{role_id}': 'Returns one role of a project.',
  'POST /v1/projects/{project_id}/roles/{role_id}':
    'Changes a role of a project, and so what all who have it may do. Predefined ones stay as they are.',
  'DELETE /v1/projects/{project_id}/roles/{role_id}':
    'Deletes a role of a project and takes it from all who have it.',
  'GET /v1/organization/users/{user_id}/roles':
    'Lists the roles of a member of the account. What the person may do is all of them together.',
  'POST /v1/organization/users/{user_id}/roles':
    'Gives a member of the account a further role. Nobody gives a role with a permission that they lack.',
  'GET /v1/organization/users/{user_id}/roles/{role_id}': 'Returns one role of a member of the account.',
  'DELETE /v1/organization/users/{user_id}/roles/{role_id}':
    'Takes a role from a member of the account. The role of the membership itself is changed with the membership.',
  'GET /v1/organization/groups/{group_id}/roles':
    'Lists the roles of a group in the account. What the person may do is all of them together.',
  'POST /v1/organization/groups/{group_id}/roles':
    'Gives a group in the account a further role. Nobody gives a role with a permission that they lack.',
  'GET /v1/organization/groups/{group_id}/roles/{role_id}': 'Returns one role of a group in the account.',
  'DELETE /v1/organization/groups/{group_id}/roles/{role_id}':
    'Takes a role from a group in the account. The role of the membership itself is changed with the membership.',
  'GET /v1/projects/{project_id}/users/{user_id}/roles':
    'Lists the roles of a person in a project. What the person may do is all of them together.',
  'POST /v1/projects/{project_id}/users/{user_id}/roles':
    'Gives a person in a project a further role. Nobody gives a role with a permission that they lack.',
  'GET /v1/projects/{project_id}/users/{user_id}/roles/{role_id}':
    'Returns one role of a person in a project.',
  'DELETE /v1/projects/{project_id}/users/{user_id}/roles/{role_id}':
    'Takes a role from a person in a project. The role of the membership itself is changed with the membership.',
  'GET /v1/projects/{project_id}/groups/{group_id}/roles':
    'Lists the roles of a group in a project. What the person may do is all of them together.',
  'POST /v1/projects/{project_id}/groups/{group_id}/roles':
    'Gives a group in a project a further role. Nobody gives a role with a permission that they lack.',
  'GET /v1/projects/{project_id}/groups/{group_id}/roles/{role_id}':
    'Returns one role of a group in a project.',
  'DELETE /v1/projects/{project_id}/groups/{group_id}/roles/{role_id}':
    'Takes a role from a group in a project. The role of the membership itself is changed with the membership.',
}
