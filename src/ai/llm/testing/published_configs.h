#pragma once
// config.json files of published models, for tests.

#include <cstdint>
#include <utility>

namespace perfcast::ai::testing {

// Files as the models' makers would write them, reduced to the fields that count.
inline const std::pair<const char*, const char*> kSameAsBuiltIn[] = {
    {"llama3-8b", R"({"model_type": "llama", "hidden_size": 4096, "intermediate_size": 14336, "num_attention_heads": 32,
      "num_hidden_layers": 32, "num_key_value_heads": 8, "vocab_size": 128256, "max_position_embeddings": 8192,
      "hidden_act": "silu", "tie_word_embeddings": false})"},
    {"llama2-7b", R"({"model_type": "llama", "hidden_size": 4096, "intermediate_size": 11008, "num_attention_heads": 32,
      "num_hidden_layers": 32, "vocab_size": 32000})"},
    {"mistral-7b", R"({"model_type": "mistral", "hidden_size": 4096, "intermediate_size": 14336, "sliding_window": 4096,
      "num_attention_heads": 32, "num_hidden_layers": 32, "num_key_value_heads": 8, "vocab_size": 32000})"},
    {"mixtral-8x7b", R"({"model_type": "mixtral", "hidden_size": 4096, "intermediate_size": 14336,
      "num_attention_heads": 32, "num_hidden_layers": 32, "num_key_value_heads": 8, "vocab_size": 32000,
      "num_local_experts": 8, "num_experts_per_tok": 2, "sliding_window": null})"},
    {"qwen-72b", R"({"model_type": "qwen", "hidden_size": 8192, "intermediate_size": 49152, "num_attention_heads": 64,
      "num_hidden_layers": 80, "vocab_size": 152064, "no_bias": true})"},
    {"qwen2.5-7b", R"({"model_type": "qwen2", "hidden_size": 3584, "intermediate_size": 18944,
      "num_attention_heads": 28, "num_hidden_layers": 28, "num_key_value_heads": 4, "vocab_size": 152064,
      "use_sliding_window": false, "sliding_window": 131072, "max_window_layers": 28})"},
    {"qwen1.5-moe-a2.7b", R"({"model_type": "qwen2_moe", "hidden_size": 2048, "intermediate_size": 5632,
      "num_attention_heads": 16, "num_hidden_layers": 24, "num_key_value_heads": 16, "vocab_size": 151936,
      "num_experts": 60, "num_experts_per_tok": 4, "moe_intermediate_size": 1408, "decoder_sparse_step": 1,
      "shared_expert_intermediate_size": 5632})"},
    {"qwen3-8b", R"({"model_type": "qwen3", "hidden_size": 4096, "intermediate_size": 12288, "head_dim": 128,
      "num_attention_heads": 32, "num_hidden_layers": 36, "num_key_value_heads": 8, "vocab_size": 151936})"},
    {"qwen3-30b-a3b", R"({"model_type": "qwen3_moe", "hidden_size": 2048, "intermediate_size": 6144, "head_dim": 128,
      "num_attention_heads": 32, "num_hidden_layers": 48, "num_key_value_heads": 4, "vocab_size": 151936,
      "num_experts": 128, "num_experts_per_tok": 8, "moe_intermediate_size": 768, "mlp_only_layers": []})"},
    {"gemma-2b", R"({"model_type": "gemma", "hidden_size": 2048, "intermediate_size": 16384, "head_dim": 256,
      "num_attention_heads": 8, "num_hidden_layers": 18, "num_key_value_heads": 1, "vocab_size": 256000,
      "hidden_activation": "gelu_pytorch_tanh", "hidden_act": "gelu"})"},
    {"gemma2-9b", R"({"model_type": "gemma2", "hidden_size": 3584, "intermediate_size": 14336, "head_dim": 256,
      "num_attention_heads": 16, "num_hidden_layers": 42, "num_key_value_heads": 8, "vocab_size": 256000,
      "sliding_window": 4096})"},
    {"phi-2", R"({"model_type": "phi", "hidden_size": 2560, "intermediate_size": 10240, "num_attention_heads": 32,
      "num_hidden_layers": 32, "vocab_size": 51200, "partial_rotary_factor": 0.4, "hidden_act": "gelu_new"})"},
    {"phi-4", R"({"model_type": "phi3", "hidden_size": 5120, "intermediate_size": 17920, "num_attention_heads": 40,
      "num_hidden_layers": 40, "num_key_value_heads": 10, "vocab_size": 100352, "sliding_window": null})"},
    {"gpt2-xl", R"({"model_type": "gpt2", "n_layer": 48, "n_embd": 1600, "n_head": 25, "n_positions": 1024,
      "vocab_size": 50257, "activation_function": "gelu_new"})"},
    {"gpt-neox-20b", R"({"model_type": "gpt_neox", "hidden_size": 6144, "intermediate_size": 24576,
      "num_attention_heads": 64, "num_hidden_layers": 44, "vocab_size": 50432, "rotary_pct": 0.25})"},
    {"opt-1.3b", R"({"model_type": "opt", "hidden_size": 2048, "ffn_dim": 8192, "num_attention_heads": 32,
      "num_hidden_layers": 24, "vocab_size": 50272, "max_position_embeddings": 2048, "word_embed_proj_dim": 2048})"},
    {"falcon-7b", R"({"model_type": "falcon", "hidden_size": 4544, "num_attention_heads": 71, "num_hidden_layers": 32,
      "vocab_size": 65024, "multi_query": true, "parallel_attn": true, "bias": false, "alibi": false})"},
    {"bert-large", R"({"model_type": "bert", "hidden_size": 1024, "intermediate_size": 4096, "num_attention_heads": 16,
      "num_hidden_layers": 24, "vocab_size": 30522, "max_position_embeddings": 512, "type_vocab_size": 2})"},
    {"deepseek-v3", R"({"model_type": "deepseek_v3", "hidden_size": 7168, "intermediate_size": 18432,
      "num_attention_heads": 128, "num_key_value_heads": 128, "num_hidden_layers": 61, "vocab_size": 129280,
      "q_lora_rank": 1536, "kv_lora_rank": 512, "qk_nope_head_dim": 128, "qk_rope_head_dim": 64, "v_head_dim": 128,
      "n_routed_experts": 256, "n_shared_experts": 1, "num_experts_per_tok": 8, "moe_intermediate_size": 2048,
      "first_k_dense_replace": 3, "moe_layer_freq": 1, "num_nextn_predict_layers": 1})"},
    {"deepseek-v2-lite", R"({"model_type": "deepseek_v2", "hidden_size": 2048, "intermediate_size": 10944,
      "num_attention_heads": 16, "num_hidden_layers": 27, "vocab_size": 102400, "q_lora_rank": null,
      "kv_lora_rank": 512, "qk_nope_head_dim": 128, "qk_rope_head_dim": 64, "v_head_dim": 128, "n_routed_experts": 64,
      "n_shared_experts": 2, "num_experts_per_tok": 6, "moe_intermediate_size": 1408, "first_k_dense_replace": 1})"},
};

// Numbers of parameters as the makers publish them, or as they follow from the tensors of the published files.
struct PublishedFile {
  const char* json;
  int64_t parameters;
};
inline constexpr PublishedFile kPublishedFiles[] = {
    // Gemma 3 4B, its text part, as transformers writes it: what equals the class is left out.
    {R"({"model_type": "gemma3", "text_config": {"hidden_size": 2560, "intermediate_size": 10240,
        "model_type": "gemma3_text", "num_hidden_layers": 34, "sliding_window": 1024}})",
     3'880'263'168},
    // Gemma 3 12B and 27B.
    {R"({"model_type": "gemma3", "text_config": {"hidden_size": 3840, "intermediate_size": 15360,
        "model_type": "gemma3_text", "num_attention_heads": 16, "num_hidden_layers": 48, "num_key_value_heads": 8}})",
     11'766'034'176},
    {R"({"model_type": "gemma3", "text_config": {"head_dim": 128, "hidden_size": 5376, "intermediate_size": 21504,
        "num_attention_heads": 32, "num_hidden_layers": 62, "num_key_value_heads": 16}})",
     27'009'346'304},
    // Gemma 2 2B is its class, Gemma 7B, too.
    {R"({"model_type": "gemma2", "hidden_size": 2304, "num_hidden_layers": 26})", 2'614'341'888},
    {R"({"model_type": "gemma", "hidden_size": 3072, "num_hidden_layers": 28})", 8'537'680'896},
    // The text part of LLaVA 1.5 7B: Llama 2 7B with 64 more words.
    {R"({"model_type": "llava", "text_config": {"model_type": "llama", "vocab_size": 32064}})", 6'738'939'904},
    {R"({"model_type": "mistral", "hidden_size": 4096, "num_hidden_layers": 32})", 7'241'732'096},
    {R"({"model_type": "mixtral", "hidden_size": 4096, "num_hidden_layers": 32})", 46'702'792'704},
    {R"({"model_type": "deepseek_v3", "hidden_size": 7168, "num_hidden_layers": 61})", 671'026'419'200},
    {R"({"model_type": "gpt_oss", "hidden_size": 2880, "num_hidden_layers": 24, "num_local_experts": 32})",
     20'914'757'184},
    {R"({"model_type": "gpt_oss", "hidden_size": 2880, "num_hidden_layers": 36})", 116'829'156'672},
    // Llama 4 Scout and Maverick, their text parts.
    {R"({"model_type": "llama4", "text_config": {}})", 107'769'861'120},
    {R"({"model_type": "llama4", "text_config": {"interleave_moe_layer_step": 2, "num_local_experts": 128}})",
     400'711'848'960},
    {R"({"model_type": "smollm3", "hidden_size": 2048, "num_hidden_layers": 36})", 3'075'098'624},
    {R"({"model_type": "olmo2", "hidden_size": 4096, "num_hidden_layers": 32, "vocab_size": 100352})", 7'298'617'344},
    {R"({"model_type": "granite", "hidden_size": 4096, "intermediate_size": 12800, "num_hidden_layers": 40,
        "num_key_value_heads": 8, "tie_word_embeddings": true, "vocab_size": 49155})",
     8'170'848'256},
    {R"({"model_type": "olmo", "hidden_size": 4096, "num_hidden_layers": 32})", 6'888'095'744},
    // Mamba Codestral 7B.
    {R"({"model_type": "mamba2", "hidden_size": 4096, "num_hidden_layers": 64, "time_step_limit": [0.0, Infinity]})",
     7'285'403'648},
    // Hybrids: Bamba 9B, Jamba v0.1, Nemotron-H 8B, Nemotron 3 Nano 30B, Granite 4.0 H Tiny.
    {R"({"model_type": "bamba", "hidden_size": 4096, "num_hidden_layers": 32, "vocab_size": 128256,
        "mamba_d_state": 128, "attn_layer_indices": [9, 18, 27], "time_step_limit": [0.0, Infinity]})",
     9'780'235'392},
    {R"({"model_type": "jamba", "hidden_size": 4096, "num_hidden_layers": 32})", 51'570'323'328},
    {R"({"model_type": "nemotron_h", "hidden_size": 4096,
        "hybrid_override_pattern": "M-M-M-M*-M-M-M-M-M*-M-M-M-M-M*-M-M-M-M-M*-M-M-M-M-M-"})",
     8'100'852'736},
    {R"({"model_type": "nemotron_h", "hidden_size": 2688, "num_key_value_heads": 2, "mamba_num_heads": 64,
        "n_routed_experts": 128, "num_experts_per_tok": 6, "moe_intermediate_size": 1856,
        "moe_shared_expert_intermediate_size": 3712,
        "hybrid_override_pattern": "MEMEM*EMEMEM*EMEMEM*EMEMEM*EMEMEM*EMEMEMEM*EMEMEMEME"})",
     31'577'940'288},
    {R"({"model_type": "granitemoehybrid", "hidden_size": 1536, "intermediate_size": 512, "num_attention_heads": 12,
        "num_hidden_layers": 40, "num_key_value_heads": 4, "num_local_experts": 64, "num_experts_per_tok": 6,
        "shared_intermediate_size": 1024, "vocab_size": 100352, "tie_word_embeddings": true, "mamba_n_heads": 48,
        "mamba_d_state": 128, "layer_types": ["mamba", "mamba", "mamba", "mamba", "mamba", "attention", "mamba",
        "mamba", "mamba", "mamba", "mamba", "mamba", "mamba", "mamba", "mamba", "attention", "mamba", "mamba", "mamba",
        "mamba", "mamba", "mamba", "mamba", "mamba", "mamba", "attention", "mamba", "mamba", "mamba", "mamba", "mamba",
        "mamba", "mamba", "mamba", "mamba", "attention", "mamba", "mamba", "mamba", "mamba"]})",
     6'939'037'248},
};

}  // namespace perfcast::ai::testing
