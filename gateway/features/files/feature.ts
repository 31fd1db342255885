// Files: uploads, and reading them at their URLs (spec 4.6).
import type { GatewayFeature } from '../../feature.js'
import { UPLOADS } from '../../methods/write-request.js'
import { makeSharedDaily, makeSharedPlaces } from '../../places.js'
import { FILES_AT_ONCE, readUpload, releaseFiles, UPLOADING, uploadsOfDay } from './read-upload.js'
import { uploads } from './uploads.js'

export const FILES: GatewayFeature = {
  endpoints: { 'uploads/': { methods: 'GET, HEAD, OPTIONS', needs: 'open', answer: uploads } },
  open: ({ settings, now }) => [
    UPLOADS.with({ read: readUpload, release: releaseFiles }),
    UPLOADING.with({
      maxUpload: settings.maxUpload,
      takePlace: makeSharedPlaces(FILES_AT_ONCE),
      takeBytes: makeSharedDaily(uploadsOfDay(settings), now),
    }),
  ],
}
