/** Descriptions of the operations on files. */
export const FILE_NOTES: Readonly<Record<string, string>> = {
  'POST /v1/files':
    'Uploads a file of up to 512 MB, or 200 MB for `batch`, as a form or in base64. It costs nothing. The file counts against `file_bytes_max` of the account; a project other than `Default` may take half of that. 409 under zero data retention.',
  'GET /v1/files':
    'Lists files, newest first. Files that have expired or were deleted are not listed. Send `last_id` as `after` for the next page.',
  'GET /v1/files/{id}': 'Returns name, size, purpose and times of a file.',
  'DELETE /v1/files/{id}':
    'Deletes a file. Nobody can read it from then on; a download that has begun ends as it began.',
  'GET /v1/files/{id}/content':
    'Returns the content of a file, or the part that `Range` asks for. The type is always `application/octet-stream`.',
}
