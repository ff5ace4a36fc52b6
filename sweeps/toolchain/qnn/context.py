"""Read native context and graph info into the JSON shape of `qnn-context-binary-utility`, version 3.

Standard library only: this runs in the compile child.
"""

from __future__ import annotations

from typing import Any

from sweeps.toolchain.qnn.abi import (
    BLOB_INFO_BYTES,
    BLOB_INFO_V1_BYTES,
    DATA_TYPES,
    ENCODINGS,
    GRAPH_INFO_BYTES,
    QUANTIZATION_DEFINED,
    TENSOR_BYTES,
    TENSOR_TYPES,
    View,
)

Json = dict[str, Any]


def context_json(info: View) -> Json:
    graphs = info.array(104, info.u32(96), GRAPH_INFO_BYTES)
    tensors = info.array(88, info.u32(80), TENSOR_BYTES)
    return {
        "info": {
            "backendId": info.u32(8),
            "buildId": info.text(16),
            "coreApiVersion": _version(info, 24),
            "backendApiVersion": _version(info, 36),
            "socVersion": info.text(48),
            "contextBlobVersion": _version(info, 56),
            "contextBlobSize": info.u64(72),
            "numContextTensors": len(tensors),
            "contextTensors": [tensor_json(tensor) for tensor in tensors],
            "numGraphs": len(graphs),
            "graphs": [graph_json(graph) for graph in graphs],
            "contextMetadata": _metadata_json(info),
            "socModel": info.u32(136),
        },
        "version": info.u32(0),
    }


def graph_json(graph: View) -> Json:
    inputs = graph.array(24, graph.u32(16), TENSOR_BYTES)
    outputs = graph.array(40, graph.u32(32), TENSOR_BYTES)
    updateable = graph.array(56, graph.u32(48), TENSOR_BYTES)
    info = {
        "graphName": graph.text(8),
        "numGraphInputs": len(inputs),
        "graphInputs": [tensor_json(tensor) for tensor in inputs],
        "numGraphOutputs": len(outputs),
        "graphOutputs": [tensor_json(tensor) for tensor in outputs],
        "numUpdateableTensors": len(updateable),
        "updateableTensors": [tensor_json(tensor) for tensor in updateable],
    }
    if graph.u32(64) >= BLOB_INFO_V1_BYTES and graph.u64(72):
        info |= _blob_info_json(graph.follow(72), graph.u32(64))
    return {"info": info, "version": graph.u32(0)}


def _blob_info_json(blob: View, size: int) -> Json:
    first = {
        "spillFillBufferSize": blob.u64(8),
        "vtcmSize": blob.u32(16),
        "optimizationLevel": blob.u32(20),
        "htpDlbc": blob.u8(24),
        "numHvxThreads": blob.u64(32),
    }
    parts: Json = {"graphBlobInfo": {"info": first, "version": blob.u32(0)}}
    if size >= BLOB_INFO_BYTES:
        second = View(blob.address + BLOB_INFO_V1_BYTES)
        parts["graphBlobInfoV2"] = {
            "nativeKChannelSize": second.u64(8),
            "nativeVChannelSize": second.u64(16),
            "isSafeShareIO": second.u32(24),
            "ioTensorSize": second.u64(32),
            "opDataSize": second.u64(40),
            "constSize": second.u64(48),
            "ddrTensorSize": second.u64(56),
            "sharedWeightsSize": second.u64(64),
        }
    return parts


def tensor_json(tensor: View) -> Json:
    rank = tensor.u32(80)
    return {
        "info": {
            "id": tensor.u32(8),
            "name": tensor.text(16),
            "type": TENSOR_TYPES.get(tensor.u32(24), str(tensor.u32(24))),
            "dataFormat": tensor.u32(28),
            "dataType": DATA_TYPES.get(tensor.u32(32), hex(tensor.u32(32))),
            "quantizeParams": _quantize_json(View(tensor.address + 40)),
            "rank": rank,
            "dimensions": [dimension.u32(0) for dimension in tensor.array(88, rank, 4)],
        },
        "version": tensor.u32(0),
    }


def _quantize_json(params: View) -> Json:
    encoding = ENCODINGS.get(params.u32(4))
    if params.u32(0) != QUANTIZATION_DEFINED or encoding is None:
        return {"definition": "QNN_DEFINITION_UNDEFINED"}
    defined: Json = {"definition": "QNN_DEFINITION_DEFINED", "quantizationEncoding": encoding}
    if encoding.endswith("ENCODING_SCALE_OFFSET"):
        defined["scaleOffset"] = {"scale": params.f32(8), "offset": params.i32(12)}
    elif encoding.endswith("ENCODING_AXIS_SCALE_OFFSET"):
        pairs = params.array(16, params.u32(12), 8)
        offsets = [{"scale": pair.f32(0), "offset": pair.i32(4)} for pair in pairs]
        defined["axisScaleOffset"] = {"axis": params.i32(8), "scaleOffset": offsets}
    return defined


def _metadata_json(info: View) -> Json | None:
    if info.u32(120) < 8 or not info.u64(128):
        return None
    metadata = info.follow(128)
    return {"info": {"dspArch": metadata.u32(4)}, "version": metadata.u32(0)}


def _version(info: View, offset: int) -> Json:
    return dict(zip(("major", "minor", "patch"), info.version(offset), strict=True))
