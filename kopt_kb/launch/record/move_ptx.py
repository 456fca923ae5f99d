"""PTX of the judge's own copy; written by tools/move_ptx.py from move.cu, NVRTC 13.5."""

from __future__ import annotations

__all__ = ["PTX"]

PTX = """\
.version 7.0
.target sm_75
.address_size 64
.visible .entry kopt_move(
.param .u64 kopt_move_param_0,
.param .u64 kopt_move_param_1,
.param .u64 kopt_move_param_2,
.param .u64 kopt_move_param_3,
.param .u64 kopt_move_param_4,
.param .u64 kopt_move_param_5,
.param .u64 kopt_move_param_6,
.param .u64 kopt_move_param_7,
.param .u64 kopt_move_param_8,
.param .u64 kopt_move_param_9,
.param .u64 kopt_move_param_10,
.param .u64 kopt_move_param_11,
.param .u64 kopt_move_param_12,
.param .u64 kopt_move_param_13,
.param .u64 kopt_move_param_14,
.param .u64 kopt_move_param_15,
.param .u64 kopt_move_param_16,
.param .u32 kopt_move_param_17,
.param .u32 kopt_move_param_18,
.param .u32 kopt_move_param_19 ) {
.reg .pred %p<61>;
.reg .b16 %rs<17>;
.reg .f32 %f<16>;
.reg .b32 %r<40>;
.reg .f64 %fd<12>;
.reg .b64 %rd<134>; ld.param.u64 %rd54, [kopt_move_param_2]; ld.param.u64 %rd55, [kopt_move_param_3];
ld.param.u64 %rd56, [kopt_move_param_4]; ld.param.u64 %rd57, [kopt_move_param_5];
ld.param.u64 %rd58, [kopt_move_param_6]; ld.param.u64 %rd62, [kopt_move_param_10];
ld.param.u64 %rd63, [kopt_move_param_11]; ld.param.u64 %rd67, [kopt_move_param_15];
ld.param.u64 %rd68, [kopt_move_param_16]; ld.param.u32 %r3, [kopt_move_param_17];
ld.param.u32 %r4, [kopt_move_param_18]; ld.param.u32 %r5, [kopt_move_param_19]; mov.u32 %r6, %ntid.x;
cvt.u64.u32 %rd1, %r6; mov.u32 %r7, %ctaid.x; mul.wide.u32 %rd69, %r7, %r6; mov.u32 %r8, %tid.x;
cvt.u64.u32 %rd70, %r8; add.s64 %rd119, %rd69, %rd70; setp.ge.u64 %p1, %rd119, %rd54; @%p1 bra $L__BB0_106;
add.s32 %r1, %r4, -4; or.b32 %r2, %r4, 1; mov.u32 %r9, %nctaid.x; cvt.u64.u32 %rd71, %r9;
mul.lo.s64 %rd3, %rd71, %rd1; $L__BB0_2: setp.eq.s32 %p2, %r3, 1; mov.u64 %rd120, 0; @%p2 bra $L__BB0_6;
or.b64 %rd73, %rd119, %rd55; and.b64 %rd74, %rd73, -4294967296; setp.eq.s64 %p3, %rd74, 0; @%p3 bra $L__BB0_5;
div.u64 %rd120, %rd119, %rd55; bra.uni $L__BB0_6; $L__BB0_5: cvt.u32.u64 %r10, %rd55;
cvt.u32.u64 %r11, %rd119; div.u32 %r12, %r11, %r10; cvt.u64.u32 %rd120, %r12; $L__BB0_6:
ld.param.u64 %rd114, [kopt_move_param_1]; ld.param.u64 %rd113, [kopt_move_param_12];
ld.param.u64 %rd112, [kopt_move_param_0]; ld.param.u64 %rd111, [kopt_move_param_7];
mul.lo.s64 %rd75, %rd120, %rd55; sub.s64 %rd76, %rd119, %rd75; mul.lo.s64 %rd77, %rd76, %rd111;
add.s64 %rd127, %rd77, %rd112; mul.lo.s64 %rd78, %rd76, %rd113; add.s64 %rd128, %rd78, %rd114;
setp.lt.s32 %p4, %r3, 2; @%p4 bra $L__BB0_12; setp.eq.s32 %p5, %r3, 2; mov.u64 %rd121, 0; @%p5 bra $L__BB0_11;
or.b64 %rd80, %rd120, %rd56; and.b64 %rd81, %rd80, -4294967296; setp.eq.s64 %p6, %rd81, 0;
@%p6 bra $L__BB0_10; div.u64 %rd121, %rd120, %rd56; bra.uni $L__BB0_11; $L__BB0_10: cvt.u32.u64 %r13, %rd56;
cvt.u32.u64 %r14, %rd120; div.u32 %r15, %r14, %r13; cvt.u64.u32 %rd121, %r15; $L__BB0_11:
ld.param.u64 %rd116, [kopt_move_param_13]; ld.param.u64 %rd115, [kopt_move_param_8];
mul.lo.s64 %rd82, %rd121, %rd56; sub.s64 %rd83, %rd120, %rd82; mul.lo.s64 %rd84, %rd83, %rd115;
add.s64 %rd127, %rd84, %rd127; mul.lo.s64 %rd85, %rd83, %rd116; add.s64 %rd128, %rd85, %rd128;
mov.u64 %rd120, %rd121; $L__BB0_12: setp.lt.s32 %p7, %r3, 3; @%p7 bra $L__BB0_18; setp.eq.s32 %p8, %r3, 3;
mov.u64 %rd125, 0; @%p8 bra $L__BB0_17; or.b64 %rd87, %rd120, %rd57; and.b64 %rd88, %rd87, -4294967296;
setp.eq.s64 %p9, %rd88, 0; @%p9 bra $L__BB0_16; div.u64 %rd125, %rd120, %rd57; bra.uni $L__BB0_17; $L__BB0_16:
cvt.u32.u64 %r16, %rd57; cvt.u32.u64 %r17, %rd120; div.u32 %r18, %r17, %r16; cvt.u64.u32 %rd125, %r18;
$L__BB0_17: ld.param.u64 %rd118, [kopt_move_param_14]; ld.param.u64 %rd117, [kopt_move_param_9];
mul.lo.s64 %rd89, %rd125, %rd57; sub.s64 %rd90, %rd120, %rd89; mul.lo.s64 %rd91, %rd90, %rd117;
add.s64 %rd127, %rd91, %rd127; mul.lo.s64 %rd92, %rd90, %rd118; add.s64 %rd128, %rd92, %rd128;
mov.u64 %rd120, %rd125; $L__BB0_18: setp.lt.s32 %p10, %r3, 4; @%p10 bra $L__BB0_24; setp.eq.s32 %p11, %r3, 4;
mov.u64 %rd129, 0; @%p11 bra $L__BB0_23; or.b64 %rd94, %rd120, %rd58; and.b64 %rd95, %rd94, -4294967296;
setp.eq.s64 %p12, %rd95, 0; @%p12 bra $L__BB0_22; div.u64 %rd129, %rd120, %rd58; bra.uni $L__BB0_23;
$L__BB0_22: cvt.u32.u64 %r19, %rd58; cvt.u32.u64 %r20, %rd120; div.u32 %r21, %r20, %r19;
cvt.u64.u32 %rd129, %r21; $L__BB0_23: mul.lo.s64 %rd96, %rd129, %rd58; sub.s64 %rd97, %rd120, %rd96;
mul.lo.s64 %rd98, %rd97, %rd62; add.s64 %rd127, %rd98, %rd127; mul.lo.s64 %rd99, %rd97, %rd67;
add.s64 %rd128, %rd99, %rd128; mov.u64 %rd120, %rd129; $L__BB0_24: mul.lo.s64 %rd100, %rd120, %rd63;
add.s64 %rd101, %rd127, %rd100; mul.lo.s64 %rd102, %rd120, %rd68; add.s64 %rd103, %rd128, %rd102;
setp.gt.s32 %p13, %r3, 4; selp.b64 %rd34, %rd101, %rd127, %p13; selp.b64 %rd35, %rd103, %rd128, %p13;
setp.gt.s32 %p14, %r5, 2; @%p14 bra $L__BB0_29; bra.uni $L__BB0_25; $L__BB0_29: add.s32 %r22, %r5, -4;
setp.lt.u32 %p15, %r22, 3; @%p15 bra $L__BB0_32; bra.uni $L__BB0_30; $L__BB0_32: setp.gt.u32 %p20, %r1, 2;
@%p20 bra $L__BB0_45; setp.eq.s32 %p21, %r5, 6; @%p21 bra $L__BB0_37; bra.uni $L__BB0_34; $L__BB0_37:
ld.f32 %f14, [%rd35]; bra.uni $L__BB0_38; $L__BB0_25: setp.eq.s32 %p17, %r5, 0; @%p17 bra $L__BB0_44;
setp.eq.s32 %p18, %r5, 1; @%p18 bra $L__BB0_43; setp.eq.s32 %p19, %r5, 2; @%p19 bra $L__BB0_28;
bra.uni $L__BB0_45; $L__BB0_28: ld.u32 %r31, [%rd35]; st.u32 [%rd34], %r31; bra.uni $L__BB0_105; $L__BB0_30:
setp.eq.s32 %p16, %r5, 3; @%p16 bra $L__BB0_31; bra.uni $L__BB0_45; $L__BB0_31: ld.u64 %rd104, [%rd35];
st.u64 [%rd34], %rd104; bra.uni $L__BB0_105; $L__BB0_45: setp.lt.s32 %p26, %r5, 8; @%p26 bra $L__BB0_80;
bra.uni $L__BB0_46; $L__BB0_80: setp.eq.s32 %p47, %r5, 7; @%p47 bra $L__BB0_83; setp.ne.s32 %p48, %r5, 6;
@%p48 bra $L__BB0_84; ld.f32 %f15, [%rd35]; bra.uni $L__BB0_87; $L__BB0_46: setp.lt.s32 %p27, %r4, 8;
@%p27 bra $L__BB0_68; bra.uni $L__BB0_47; $L__BB0_68: setp.gt.s32 %p40, %r5, 9; @%p40 bra $L__BB0_72;
bra.uni $L__BB0_69; $L__BB0_72: setp.eq.s32 %p41, %r5, 10; @%p41 bra $L__BB0_76; setp.eq.s32 %p42, %r5, 13;
@%p42 bra $L__BB0_77; setp.ne.s32 %p43, %r5, 11; @%p43 bra $L__BB0_79; ld.s32 %rd43, [%rd35];
cvt.rn.f64.s64 %fd11, %rd43; bra.uni $L__BB0_88; $L__BB0_44: ld.u8 %rs8, [%rd35]; st.u8 [%rd34], %rs8;
bra.uni $L__BB0_105; $L__BB0_43: ld.u16 %rs7, [%rd35]; st.u16 [%rd34], %rs7; bra.uni $L__BB0_105; $L__BB0_34:
setp.eq.s32 %p22, %r5, 5; ld.u16 %rs1, [%rd35]; @%p22 bra $L__BB0_36; bra.uni $L__BB0_35; $L__BB0_36:
cvt.u32.u16 %r23, %rs1; shl.b32 %r24, %r23, 16; mov.b32 %f14, %r24; bra.uni $L__BB0_38; $L__BB0_47:
setp.gt.s32 %p28, %r5, 9; @%p28 bra $L__BB0_51; bra.uni $L__BB0_48; $L__BB0_51: setp.eq.s32 %p29, %r5, 10;
@%p29 bra $L__BB0_55; setp.eq.s32 %p30, %r5, 13; @%p30 bra $L__BB0_56; setp.ne.s32 %p31, %r5, 11;
@%p31 bra $L__BB0_58; ld.s32 %rd133, [%rd35]; bra.uni $L__BB0_59; $L__BB0_83: ld.f64 %fd11, [%rd35];
bra.uni $L__BB0_88; $L__BB0_84: setp.eq.s32 %p49, %r5, 5; ld.u16 %rs2, [%rd35]; @%p49 bra $L__BB0_86;
bra.uni $L__BB0_85; $L__BB0_86: cvt.u32.u16 %r32, %rs2; shl.b32 %r33, %r32, 16; mov.b32 %f15, %r33;
bra.uni $L__BB0_87; $L__BB0_35: cvt.f32.f16 %f14, %rs1; $L__BB0_38: setp.eq.s32 %p23, %r4, 6;
@%p23 bra $L__BB0_41; setp.ne.s32 %p24, %r4, 5; @%p24 bra $L__BB0_42; mov.b32 %r25, %f14;
shr.u32 %r26, %r25, 16; and.b32 %r27, %r26, 1; add.s32 %r28, %r25, %r27; add.s32 %r29, %r28, 32767;
shr.u32 %r30, %r29, 16; cvt.u16.u32 %rs4, %r30; setp.nan.f32 %p25, %f14, %f14;
selp.b16 %rs5, 32704, %rs4, %p25; st.u16 [%rd34], %rs5; bra.uni $L__BB0_105; $L__BB0_41: st.f32 [%rd34], %f14;
bra.uni $L__BB0_105; $L__BB0_42: cvt.rn.f16.f32 %rs6, %f14; st.u16 [%rd34], %rs6; bra.uni $L__BB0_105;
$L__BB0_69: setp.eq.s32 %p44, %r5, 8; @%p44 bra $L__BB0_78; setp.eq.s32 %p45, %r5, 9; @%p45 bra $L__BB0_71;
bra.uni $L__BB0_79; $L__BB0_71: ld.u8 %rd46, [%rd35]; cvt.rn.f64.s64 %fd11, %rd46; bra.uni $L__BB0_88;
$L__BB0_48: setp.eq.s32 %p32, %r5, 8; @%p32 bra $L__BB0_57; setp.eq.s32 %p33, %r5, 9; @%p33 bra $L__BB0_50;
bra.uni $L__BB0_58; $L__BB0_50: ld.u8 %rd133, [%rd35]; bra.uni $L__BB0_59; $L__BB0_85: cvt.f32.f16 %f15, %rs2;
$L__BB0_87: cvt.f64.f32 %fd11, %f15; $L__BB0_88: setp.eq.s32 %p50, %r4, 7; @%p50 bra $L__BB0_91;
setp.ne.s32 %p51, %r4, 13; @%p51 bra $L__BB0_92; setp.neu.f64 %p52, %fd11, 0d0000000000000000;
selp.u16 %rs13, 1, 0, %p52; st.u8 [%rd34], %rs13; bra.uni $L__BB0_105; $L__BB0_91: st.f64 [%rd34], %fd11;
bra.uni $L__BB0_105; $L__BB0_92: setp.lt.s32 %p53, %r4, 8; @%p53 bra $L__BB0_100; bra.uni $L__BB0_93;
$L__BB0_100: cvt.rn.f32.f64 %f9, %fd11; setp.eq.s32 %p57, %r4, 6; @%p57 bra $L__BB0_103;
setp.ne.s32 %p58, %r4, 5; @%p58 bra $L__BB0_104; mov.b32 %r34, %f9; shr.u32 %r35, %r34, 16;
and.b32 %r36, %r35, 1; add.s32 %r37, %r34, %r36; add.s32 %r38, %r37, 32767; shr.u32 %r39, %r38, 16;
cvt.u16.u32 %rs14, %r39; setp.nan.f32 %p59, %f9, %f9; selp.b16 %rs15, 32704, %rs14, %p59;
st.u16 [%rd34], %rs15; bra.uni $L__BB0_105; $L__BB0_93: setp.eq.s32 %p54, %r2, 9;
cvt.rzi.s64.f64 %rd50, %fd11; @%p54 bra $L__BB0_99; bra.uni $L__BB0_94; $L__BB0_99: st.u8 [%rd34], %rd50;
bra.uni $L__BB0_105; $L__BB0_94: setp.eq.s32 %p55, %r4, 11; @%p55 bra $L__BB0_97; setp.ne.s32 %p56, %r4, 10;
@%p56 bra $L__BB0_98; st.u16 [%rd34], %rd50; bra.uni $L__BB0_105; $L__BB0_76: ld.s16 %rd44, [%rd35];
cvt.rn.f64.s64 %fd11, %rd44; bra.uni $L__BB0_88; $L__BB0_77: ld.u8 %rs11, [%rd35]; setp.ne.s16 %p46, %rs11, 0;
selp.u64 %rd45, 1, 0, %p46; cvt.rn.f64.s64 %fd11, %rd45; bra.uni $L__BB0_88; $L__BB0_55:
ld.s16 %rd133, [%rd35]; bra.uni $L__BB0_59; $L__BB0_56: ld.u8 %rs9, [%rd35]; setp.ne.s16 %p34, %rs9, 0;
selp.u64 %rd133, 1, 0, %p34; bra.uni $L__BB0_59; $L__BB0_78: ld.s8 %rd47, [%rd35];
cvt.rn.f64.s64 %fd11, %rd47; bra.uni $L__BB0_88; $L__BB0_57: ld.s8 %rd133, [%rd35]; bra.uni $L__BB0_59;
$L__BB0_103: st.f32 [%rd34], %f9; bra.uni $L__BB0_105; $L__BB0_104: cvt.rn.f16.f32 %rs16, %f9;
st.u16 [%rd34], %rs16; bra.uni $L__BB0_105; $L__BB0_79: ld.u64 %rd48, [%rd35]; cvt.rn.f64.s64 %fd11, %rd48;
bra.uni $L__BB0_88; $L__BB0_58: ld.u64 %rd133, [%rd35]; $L__BB0_59: setp.eq.s32 %p35, %r2, 9;
@%p35 bra $L__BB0_67; bra.uni $L__BB0_60; $L__BB0_67: st.u8 [%rd34], %rd133; bra.uni $L__BB0_105; $L__BB0_60:
setp.eq.s32 %p36, %r4, 10; @%p36 bra $L__BB0_64; setp.eq.s32 %p37, %r4, 13; @%p37 bra $L__BB0_65;
setp.ne.s32 %p38, %r4, 11; @%p38 bra $L__BB0_66; st.u32 [%rd34], %rd133; bra.uni $L__BB0_105; $L__BB0_64:
st.u16 [%rd34], %rd133; bra.uni $L__BB0_105; $L__BB0_65: setp.ne.s64 %p39, %rd133, 0;
selp.u16 %rs10, 1, 0, %p39; st.u8 [%rd34], %rs10; bra.uni $L__BB0_105; $L__BB0_66: st.u64 [%rd34], %rd133;
bra.uni $L__BB0_105; $L__BB0_97: st.u32 [%rd34], %rd50; bra.uni $L__BB0_105; $L__BB0_98:
st.u64 [%rd34], %rd50; $L__BB0_105: add.s64 %rd119, %rd119, %rd3; setp.lt.u64 %p60, %rd119, %rd54;
@%p60 bra $L__BB0_2; $L__BB0_106: ret; }
"""
