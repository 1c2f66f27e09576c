/** Descriptions of the operations on files. */
export const FILE_NOTES: Readonly<Record<string, string>> = {
  'POST /v1/files':
    'Uploads a file of up to 512 MB, or 200 MB for `batch`, as a form or in base64. It costs nothing. The file counts against `file_bytes_max` of the account; a project other than `Default` may take half of that. 409 under zero data retention. With the header `anthropic-version`, or `anthropic-beta: files-api-…`, the routes of files answer in the form of Anthropic.',
  'POST /v1/uploads':
    'Begins an upload of up to 8 GB (200 MB for `batch`) in parts, within an hour. It costs nothing. Takes the declared bytes of `file_bytes_max` at once. 409 under zero data retention.',
  'POST /v1/uploads/{id}/parts':
    'Adds a part of up to 64 MB, as a form or in base64, in any order and several at once; an upload has up to 1,000. It costs nothing. A part whose answer was lost can be sent again.',
  'POST /v1/uploads/{id}/complete':
    'Makes a file of the parts, in the order of `part_ids`. It costs nothing. The same parts again give the same file. With `md5` the whole file is read and compared, at most five times an upload.',
  'POST /v1/uploads/{id}/cancel':
    'Ends an upload that was not completed and gives its bytes back. It costs nothing.',
  'GET /v1/files':
    'Lists files, newest first. Files that have expired or were deleted are not listed. Send `last_id` as `after` for the next page.',
  'GET /v1/files/{id}': 'Returns name, size, purpose and times of a file.',
  'DELETE /v1/files/{id}':
    'Deletes a file. Nobody can read it from then on; a download that has begun ends as it began.',
  'GET /v1/files/{id}/content':
    'Returns the content of a file, or the part that `Range` asks for. The type is always `application/octet-stream`.',
}
