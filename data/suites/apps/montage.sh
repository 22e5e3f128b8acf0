#!/bin/sh
# A mosaic of the images in $1/raw: reprojected, their backgrounds matched, added up, drawn. Montage's usual steps.
set -e
cd "$1"
rm -rf projected differences corrected
mkdir projected differences corrected
mImgtbl raw raw.tbl
mMakeHdr raw.tbl mosaic.hdr
mProjExec -p raw raw.tbl mosaic.hdr projected projected.tbl
mImgtbl projected images.tbl
mAdd -p projected images.tbl mosaic.hdr uncorrected.fits
mViewer -ct 1 -gray uncorrected.fits -1s max gaussian-log -out uncorrected.png
mOverlaps images.tbl overlaps.tbl
mDiffExec -p projected overlaps.tbl mosaic.hdr differences
mFitExec overlaps.tbl fits.tbl differences
mBgModel images.tbl fits.tbl corrections.tbl
mBgExec -p projected images.tbl corrections.tbl corrected
mAdd -p corrected images.tbl mosaic.hdr mosaic.fits
mViewer -ct 1 -gray mosaic.fits -1s max gaussian-log -out mosaic.png
test -s mosaic.png
